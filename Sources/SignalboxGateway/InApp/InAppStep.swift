import SignalboxEgress
import SignalboxInApp
import SignalboxNotification
import SignalboxStore

// One decision in the store. Everything that runs within the store's transaction is a function of its input, because
// a failed commit is repeated in parts.

extension InAppFlow {
    /// How often a decision is made again because it needs the tallies of further campaigns.
    private static let rounds = 4

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
        /// The decision needs these tallies too; the run changed no row.
        case needs(Set<MessageID>)
    }

    /// The campaigns whose tallies a decision reads.
    typealias Tallies = @Sendable (InAppState, ActiveMessages, Policy) -> [MessageID]
    /// Decides over rows, and returns what the caller needs of the decision.
    typealias Decide<Value> =
        @Sendable (InAppEngine, InAppState, ActiveMessages, Instant) -> Result<(Value, Decision), ReportFault>

    /// The input of a run besides the rows.
    struct Input: Sendable {
        let snapshot: InAppMessages.Snapshot
        /// The campaigns whose tallies are loaded.
        let known: Set<MessageID>
        let now: Instant
        let source: SourceName
        /// For the ids of events.
        let random: (UInt64, UInt64)
        /// Whether the decision must be made with the tallies that it has.
        let isLast: Bool
    }

    /// Runs a decision in the store. `knowing`: the campaigns whose tallies it certainly reads. `tallies`: all of
    /// them, besides those of the device's offers; they depend on the rows, so the decision runs again if one is
    /// missing. Both closures must be functions of their arguments.
    func decide<Value: Sendable>(
        about subject: InAppSubject, from source: SourceName, knowing capped: [MessageID] = [],
        _ tallies: @escaping Tallies, by decide: @escaping Decide<Value>
    ) async throws(InAppFailure) -> Committed<Value> {
        var known = Set(capped)
        for round in 1...Self.rounds {
            let input = Input(
                snapshot: shared.messages.snapshot, known: known, now: now, source: source, random: Self.random(),
                isLast: round == Self.rounds)
            let step = try await fromStore { () throws(StoreError) in
                try await store.decide(about: subject, tallies: known.sorted()) { [events] rows in
                    events.step(over: rows, input, tallies, by: decide)
                }
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

    private static func random() -> (UInt64, UInt64) {
        randomBytes(16).withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}

extension InAppEvents {
    /// One run over the rows.
    fileprivate func step<Value: Sendable>(
        over rows: InAppRows, _ input: InAppFlow.Input, _ tallies: InAppFlow.Tallies,
        by decide: InAppFlow.Decide<Value>
    ) -> InAppStep<InAppFlow.Step<Value>> {
        if rows.isUnknownOffer { return InAppStep(.rejected(.unknownOffer)) }
        let engine = input.snapshot.engine
        var active = input.snapshot.active(addressed: rows.addressed)
        let missing = active.missing(tallies(rows.state, active, engine.policy), rows.state, input.known)
        guard missing.isEmpty || input.isLast else { return InAppStep(.needs(missing)) }
        // Messages whose tallies are not loaded cannot be offered without exceeding their limits.
        for id in missing { active.withdraw(id) }
        switch decide(engine, rows.state, active, input.now) {
        case .failure(let fault): return InAppStep(.rejected(fault))
        case .success(let (value, decision)):
            let routed = route(decision, of: active, from: input.source, random: input.random)
            let offered = Set(decision.state.offers.values.filter { $0.state == .offered }.map(\.message))
            let addressed = rows.addressed.filter { offered.contains($0.registration.id) }
            let committed = InAppFlow.Committed(
                value: value, records: decision.records, nextDue: decision.nextDue, routed: routed,
                addressed: Dictionary(addressed.map { ($0.registration.id, $0) }) { $1 })
            return InAppStep(
                .committed(committed), changes: decision.changes, nextDue: decision.nextDue, events: routed.events)
        }
    }
}

extension InAppMessages.Snapshot {
    /// The messages of one decision. Addressed messages that cannot be read, or that the policy does not permit, are
    /// left out, and those beyond the bound of one trigger.
    func active(addressed: [StoredInAppMessage] = []) -> ActiveMessages {
        var index = MessageIndex()
        for stored in addressed {
            guard let definition = try? InAppMessages.definition(of: InAppMessages.form(of: stored)),
                index.excess(of: definition) == nil, (try? engine.policy.validate(definition.message)) != nil
            else { continue }
            index.register(definition)
        }
        return ActiveMessages(self.index, addressed: index)
    }
}

extension ActiveMessages {
    /// The campaigns whose tallies a decision about an event reads, with those of past events that late messages may
    /// still match.
    func tallies(of event: TriggerEvent, _ device: DeviceState, _ policy: Policy) -> [MessageID] {
        tallies(for: event) + (policy.replay > 0 ? device.recent.flatMap { tallies(for: $0.event) } : [])
    }

    /// The tallies that a decision needs and does not have.
    func missing(_ needed: [MessageID], _ state: InAppState, _ known: Set<MessageID>) -> Set<MessageID> {
        guard !needed.isEmpty else { return [] }
        let loaded = Set(state.offers.values.filter { $0.device == state.device.id }.map(\.message))
        return Set(needed).subtracting(known).subtracting(loaded)
    }

    mutating func withdraw(_ id: MessageID) {
        shared.withdraw(id)
        addressed.withdraw(id)
    }
}
