import Foundation
import SignalboxEgress
package import SignalboxInApp
package import SignalboxNotification
package import SignalboxStore

/// Decides which in-app message a device shows, and commits the decision with its events before it is answered.
///
/// The flow: a form is read (`Forms/`), the store loads the rows of the device and its user, ``InAppEngine`` decides
/// over them and the active messages (``InAppMessages``), ``InAppEvents`` routes the records, and the store commits
/// rows, events and deliveries together. A value: a reload makes a new one. Callable from any task.
package struct InAppFlow: Sendable {
    /// What outlives a config, one set for each process.
    package struct Shared: Sendable {
        let store: any InAppStore
        /// The active messages, with the policy of the active config.
        package let messages: InAppMessages
        /// Since the start of the process.
        package let counts = InAppCounts()
        let contents = InAppContents()
        let alarm = InAppAlarm()

        /// No message is active before ``InAppMessages/follow(_:)``.
        init(_ store: any InAppStore, policy: Policy) {
            self.store = store
            messages = InAppMessages(policy)
        }
    }

    package let shared: Shared
    private let events: InAppEvents
    /// How often a decision is made again because it needs the tallies of further campaigns.
    private static let rounds = 4

    /// `events`: under the routes of the same config.
    init(_ shared: Shared, events: InAppEvents) {
        self.shared = shared
        self.events = events
    }

    var store: any InAppStore { shared.store }
    var now: Instant { store.now.instant }

    /// An offer's id: 128 random bits, because whoever knows it may report.
    private static func ticket() -> String { "of_" + hexadecimal(randomBytes(16)) }

    /// For the ids of one decision's events, which a run that is repeated makes again.
    private static func random() -> (UInt64, UInt64) {
        randomBytes(16).withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    // MARK: Requests of devices

    /// Answers a trigger: the body of the answer. The decision is durable when this returns. Repeating a request
    /// with its id is safe after any failure.
    package func trigger(_ body: [UInt8], from source: SourceName) async throws(InAppFailure) -> [UInt8] {
        let (request, explains) = try Self.read { () throws(FormFault) in
            try TriggerForm.read(body, ticket: Self.ticket())
        }
        let committed = try await decide(about: .device(request.device, user: request.user), from: source) {
            state, active, policy in
            active.tallies(of: request.event, state.device, policy)
        } by: { engine, state, active, now in
            let decision = engine.decide(request, state, messages: active, now: now, explain: explains)
            return .success((decision.answer, decision))
        }
        let answer = committed.value
        shared.counts.count(answer.isRepeat ? .repeated : committed.result)
        let forms = try await forms(of: answer.offer.map { [$0] } ?? [], committed.addressed)
        return AnswerForm.write(answer, explain: explains) { forms[$0] }
    }

    /// Fills the slots of a page, as ``trigger(_:from:)`` answers a trigger.
    package func place(_ body: [UInt8], from source: SourceName) async throws(InAppFailure) -> [UInt8] {
        let (request, explains) = try Self.read { () throws(FormFault) in
            try SlotForm.read(body, ticket: Self.ticket())
        }
        let committed = try await decide(about: .device(request.device, user: request.user), from: source) {
            _, active, _ in
            active.tallies(ofSlots: Set(request.slots.map(\.label.name)))
        } by: { engine, state, active, now in
            let placed = engine.place(request, state, messages: active, now: now, explain: explains)
            return .success((placed, placed.decision))
        }
        let slots = committed.value.slots
        for slot in slots { shared.counts.count(slot.offer == nil ? .none : .offered) }
        let forms = try await forms(of: slots.compactMap(\.offer), committed.addressed)
        return AnswerForm.write(committed.value, explain: explains) { forms[$0] }
    }

    /// Accepts a report about an offer. `offer`: of the path, decoded. Throws `unknownOffer` also if the report names
    /// another device than the offer's.
    package func report(
        _ body: [UInt8], of offer: OfferID, from source: SourceName
    ) async throws(InAppFailure) -> [UInt8] {
        let form = try Self.read { () throws(FormFault) in
            try ReportForm.read(body, offer: offer, ticket: Self.ticket())
        }
        let committed: Committed<Reported>
        do throws(InAppFailure) {
            committed = try await decide(about: .offer(offer), from: source) { state, active, _ in
                // Only they may follow in the same turn.
                active.tallies(of: state.offers[offer]?.runnersUp ?? [])
            } by: { engine, state, active, now in
                Result { () throws(ReportFault) in
                    let report = form.report(on: state.device.id)
                    let decision = try engine.report(report, state, messages: active, now: now)
                    return (
                        Reported(offer: decision.state.offers[offer], answer: decision.answer, outcome: report.outcome),
                        decision
                    )
                }
            }
        } catch {
            shared.counts.count(error)
            throw error
        }
        let reported = committed.value
        shared.counts.count(reported.answer.isRepeat ? .repeated : .accepted, of: reported.outcome)
        let forms = try await forms(of: reported.answer.offer.map { [$0] } ?? [], committed.addressed)
        return AnswerForm.write(report: reported.answer, about: reported.offer) { forms[$0] }
    }

    /// An accepted report.
    private struct Reported: Sendable {
        /// After the report.
        let offer: Offer?
        let answer: Answer
        let outcome: Report.Outcome
    }

    /// Ends what time has ended on a device.
    func advance(_ device: DeviceID) async throws(InAppFailure) {
        _ = try await decide(about: .due(device), from: .default) { _, _, _ in
            []
        } by: { engine, state, active, now in
            .success(((), engine.advance(state, messages: active, now: now)))
        }
    }

    /// The number of devices with overdue work, at most 1,000.
    package func dueDevices() async throws(StoreError) -> Int {
        try await store.dueDevices(at: now, upTo: 1000).count
    }

    static func read<Form>(_ read: () throws(FormFault) -> Form) throws(InAppFailure) -> Form {
        do throws(FormFault) { return try read() } catch { throw .malformed(error) }
    }

    // MARK: Decisions

    /// A decision that is on disk.
    struct Committed<Value: Sendable>: Sendable {
        let value: Value
        let records: [Record]
        let nextDue: Instant?
        let routed: InAppEvents.Routed
        /// The addressed messages that it offers.
        let addressed: [MessageID: StoredInAppMessage]

        var result: InAppCounts.Result {
            if records.contains(where: { $0.kind == .offered }) { return .offered }
            return records.contains { $0.kind == .held } ? .held : .none
        }
    }

    /// The result of one run over the rows.
    enum Step<Value: Sendable>: Sendable {
        case committed(Committed<Value>)
        case rejected(ReportFault)
        /// Nothing was written: the decision needs these tallies too.
        case needs(Set<MessageID>)
    }

    /// Runs a decision in the store. `tallies`: the campaigns whose tallies it reads, besides those of the device's
    /// offers; they depend on the rows, so the decision runs again if one is missing. `decide` must be a function of
    /// its arguments.
    private func decide<Value: Sendable>(
        about subject: InAppSubject, from source: SourceName,
        _ tallies: @escaping @Sendable (InAppState, ActiveMessages, Policy) -> [MessageID],
        by decide:
            @escaping @Sendable (
                InAppEngine, InAppState, ActiveMessages, Instant
            ) -> Result<(Value, Decision), ReportFault>
    ) async throws(InAppFailure) -> Committed<Value> {
        var known: Set<MessageID> = []
        for round in 1...Self.rounds {
            let input = (snapshot: shared.messages.snapshot, known, now: now, random: Self.random())
            let step: Step<Value>
            do throws(StoreError) {
                step = try await store.decide(about: subject, tallies: known.sorted()) { [events] rows in
                    let (snapshot, known, now, random) = input
                    if rows.isUnknownOffer { return InAppStep(.rejected(.unknownOffer)) }
                    var active = snapshot.active(addressed: rows.addressed)
                    let missing = active.missing(tallies(rows.state, active, snapshot.engine.policy), rows.state, known)
                    guard missing.isEmpty || round == Self.rounds else { return InAppStep(.needs(missing)) }
                    // Messages whose tallies are not known cannot be offered without exceeding their limits.
                    for id in missing { active.withdraw(id) }
                    switch decide(snapshot.engine, rows.state, active, now) {
                    case .failure(let fault): return InAppStep(.rejected(fault))
                    case .success(let (value, decision)):
                        return events.step(value, decision, rows, of: active, from: source, random: random)
                    }
                }
            } catch {
                throw .store(error)
            }
            switch step {
            case .committed(let committed):
                shared.counts.count(committed.records, costly: committed.routed.costly)
                events.variants.count(committed.routed.events, without: [:])
                shared.alarm.note(committed.nextDue)
                return committed
            case .rejected(let fault): throw InAppFailure(fault)
            case .needs(let missing): known.formUnion(missing)
            }
        }
        preconditionFailure("The last round needs no further tallies.")
    }
}
