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
    /// Its events are on disk as well.
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
    /// A run that was not committed has none.
    enum Step<Value: Sendable>: Sendable {
        case committed(Committed<Value>)
        case rejected(ReportFault)
        /// The device is of another source.
        case foreignDevice
        /// The decision needs these tallies too; the run changed no row.
        case needs(Set<MessageID>)
    }

    /// A decision to make, with its subject. Both closures must be functions of their arguments.
    /// The decision may run several times; only the result of the committed run is used.
    struct Question<Value: Sendable>: Sendable {
        let subject: InAppSubject
        let source: SourceName
        /// The campaigns whose tallies the decision certainly reads.
        var capped: [MessageID] = []
        /// All campaigns whose tallies the decision reads, besides those of the device's offers. They depend on the
        /// rows, so the decision runs again if one is missing.
        let tallies: @Sendable (InAppState, ActiveMessages, Policy) -> [MessageID]
        /// Decides over rows, and returns what the caller needs of the decision.
        let decide:
            @Sendable (InAppEngine, InAppState, ActiveMessages, Instant) -> Result<(Value, Decision), ReportFault>
    }

    /// The input of a run besides the rows.
    /// Equal input and rows give equal changes and events, ids included: a group that is split decides the same
    /// again.
    struct Input: Sendable {
        let snapshot: InAppMessages.Snapshot
        /// The campaigns whose tallies are loaded.
        let known: Set<MessageID>
        let now: Instant
        let source: SourceName
        /// Of the config.
        let sources: Set<SourceName>
        /// For the ids of events.
        let random: (UInt64, UInt64)
        /// Whether the decision must be made with the tallies that it has.
        let isLast: Bool
    }

    /// Runs a decision in the store. Calls `done` once, after the commit or when nothing was stored, where `executor`
    /// runs its work. Callable from any thread; does not block.
    func decide<Value: Sendable>(
        _ question: Question<Value>, on executor: @escaping Executor,
        whenDone done: @escaping @Sendable (Result<Committed<Value>, InAppFailure>) -> Void
    ) { decide(question, knowing: Set(question.capped), round: 1, on: executor, whenDone: done) }

    /// Runs a decision in the store, and returns once it is on disk.
    func decide<Value: Sendable>(_ question: Question<Value>) async throws(InAppFailure) -> Committed<Value> {
        let result = await withCheckedContinuation {
            (done: CheckedContinuation<Result<Committed<Value>, InAppFailure>, Never>) in
            decide(question, on: { $0() }) { done.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Asks the store again if the decision needs tallies that were not loaded. After the last round, messages
    /// without their tally are left out, so a cap is never exceeded.
    private func decide<Value: Sendable>(
        _ question: Question<Value>, knowing known: Set<MessageID>, round: Int, on executor: @escaping Executor,
        whenDone done: @escaping @Sendable (Result<Committed<Value>, InAppFailure>) -> Void
    ) {
        let input = Input(
            snapshot: shared.messages.snapshot, known: known, now: now, source: question.source, sources: sources,
            random: Self.random(), isLast: round == Self.rounds)
        store.decide(about: question.subject, tallies: known.sorted()) { [events] rows in
            events.step(over: rows, input, question)
        } whenDone: { result in
            // Away from the store's thread, which commits the next decisions meanwhile.
            executor {
                switch result {
                case .success(.committed(let committed)):
                    conclude(committed)
                    done(.success(committed))
                case .success(.rejected(let fault)): done(.failure(InAppFailure(fault)))
                case .success(.foreignDevice): done(.failure(.foreignDevice))
                case .success(.needs(let missing)):
                    decide(question, knowing: known.union(missing), round: round + 1, on: executor, whenDone: done)
                case .failure(let error): done(.failure(.store(error)))
                }
            }
        }
    }

    /// The effects of a commit in memory: counts, and the timer.
    private func conclude<Value>(_ committed: Committed<Value>) {
        shared.counts.count(committed.records, costly: committed.routed.costly)
        events.variants.count(committed.routed.events, without: [:])
        shared.alarm.note(committed.nextDue)
    }

    /// Random for each request: an id of an event must not be guessed.
    private static func random() -> (UInt64, UInt64) {
        randomBytes(16).withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}

extension InAppEvents {
    /// One run over the rows.
    /// Runs on the store's thread, so it must not block. Changes nothing for an unknown offer, for a rejected report
    /// and for a device of another source.
    fileprivate func step<Value: Sendable>(
        over rows: InAppRows, _ input: InAppFlow.Input, _ question: InAppFlow.Question<Value>
    ) -> InAppStep<InAppFlow.Step<Value>> {
        if rows.isUnknownOffer { return InAppStep(.rejected(.unknownOffer)) }
        var state = rows.state
        switch question.subject {
        case .device where input.isForeign(state.device): return InAppStep(.foreignDevice)
        case .offer where input.isForeign(state.device): return InAppStep(.rejected(.unknownOffer))
        case .device: state.device.source = input.source.name
        case .offer, .due: break
        }
        let engine = input.snapshot.engine
        var active = input.snapshot.active(addressed: rows.addressed)
        let missing = active.missing(question.tallies(state, active, engine.policy), state, input.known)
        guard missing.isEmpty || input.isLast else { return InAppStep(.needs(missing)) }
        // Messages whose tallies are not loaded cannot be offered without exceeding their limits.
        for id in missing { active.withdraw(id) }
        switch question.decide(engine, state, active, input.now) {
        case .failure(let fault): return InAppStep(.rejected(fault))
        case .success(let (value, decision)):
            let routed = route(decision, from: input.source, random: input.random)
            let committed = InAppFlow.Committed(
                value: value, records: decision.records, nextDue: decision.nextDue, routed: routed,
                addressed: rows.offered(by: decision))
            return InAppStep(
                .committed(committed), changes: decision.changes, nextDue: decision.nextDue, events: routed.events)
        }
    }
}

extension InAppFlow.Input {
    /// Whether the device uses the token of another source: devices of two apps may have equal ids. A device whose
    /// source is no longer in the config is free.
    fileprivate func isForeign(_ device: DeviceState) -> Bool {
        guard let owner = device.source, owner != source.name else { return false }
        return sources.contains { $0.name == owner }
    }
}

extension InAppRows {
    /// The addressed messages that a decision has on offer.
    fileprivate func offered(by decision: Decision) -> [MessageID: StoredInAppMessage] {
        guard !addressed.isEmpty else { return [:] }
        let offered = Set(decision.state.offers.values.filter { $0.state == .offered }.map(\.message))
        let messages = addressed.filter { offered.contains($0.registration.id) }
        return Dictionary(messages.map { ($0.registration.id, $0) }) { $1 }
    }
}

extension InAppMessages.Snapshot {
    /// The messages of one decision. Addressed messages that cannot be read, or that the policy does not permit, are
    /// left out, and those beyond the bound of one trigger.
    /// Does not change the snapshot.
    func active(addressed: [StoredInAppMessage] = []) -> ActiveMessages {
        var index = MessageIndex()
        for stored in addressed {
            guard let definition = self.addressed.definition(of: stored),
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
    /// Empty unless a campaign with a cap over all users may match.
    func tallies(of event: TriggerEvent, _ device: DeviceState, _ policy: Policy) -> [MessageID] {
        tallies(for: event) + (policy.replay > 0 ? device.recent.flatMap { tallies(for: $0.event) } : [])
    }

    /// The tallies that a decision needs and does not have. Those of ended offers are not loaded.
    /// Empty in almost all decisions: few campaigns have a cap over all users.
    func missing(_ needed: [MessageID], _ state: InAppState, _ known: Set<MessageID>) -> Set<MessageID> {
        guard !needed.isEmpty else { return [] }
        let live = state.offers.values.filter { $0.device.hasBytes(of: state.device.id) && !$0.state.isEnded }
        let loaded = Set(live.map(\.message))
        return Set(needed).subtracting(known).subtracting(loaded)
    }

    /// For this decision only.
    mutating func withdraw(_ id: MessageID) {
        shared.withdraw(id)
        addressed.withdraw(id)
    }
}
