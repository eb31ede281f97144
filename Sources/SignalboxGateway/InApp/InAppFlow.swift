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
    /// The parts that outlive a config, one set for each process.
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
    let events: InAppEvents

    /// `events`: under the routes of the same config.
    init(_ shared: Shared, events: InAppEvents) {
        self.shared = shared
        self.events = events
    }

    var store: any InAppStore { shared.store }
    var now: Instant { store.now.instant }

    /// An offer's id: the time, so that the store's index of ids grows at its end, and 128 random bits, because
    /// a client that knows it may report.
    private var ticket: String {
        let time = withUnsafeBytes(of: UInt64(max(now, 0)).bigEndian) { hexadecimal($0.suffix(6)) }
        return "of_" + time + hexadecimal(randomBytes(16))
    }

    // MARK: Requests of devices

    /// Answers a trigger: the body of the answer. The decision is durable when this returns. Repeating a request
    /// with its id is safe after any failure.
    package func trigger(_ body: [UInt8], from source: SourceName) async throws(InAppFailure) -> [UInt8] {
        let (request, explains) = try Self.read { () throws(FormFault) in
            try TriggerForm.read(body, ticket: ticket)
        }
        let capped = shared.messages.snapshot.active().tallies(for: request.event)
        let committed = try await decide(
            about: .device(request.device, user: request.user), from: source, knowing: capped
        ) { state, active, policy in
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
            try SlotForm.read(body, ticket: ticket)
        }
        let names = Set(request.slots.map(\.label.name))
        let committed = try await decide(
            about: .device(request.device, user: request.user), from: source,
            knowing: shared.messages.snapshot.active().tallies(ofSlots: names)
        ) { _, active, _ in
            active.tallies(ofSlots: names)
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
            try ReportForm.read(body, offer: offer, ticket: ticket)
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
}
