import SignalboxInApp
import SignalboxNotification
import SignalboxStore

// The parts of a decision that run within the store's transaction. Each is a function of its input.

extension InAppMessages.Snapshot {
    /// The messages of one decision. Addressed messages that cannot be read, or that the policy does not permit, are
    /// left out, and those beyond the bound of one trigger.
    func active(addressed: [StoredInAppMessage]) -> ActiveMessages {
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

extension InAppEvents {
    /// What the store commits for a decision.
    func step<Value: Sendable>(
        _ value: Value, _ decision: Decision, _ rows: InAppRows, of active: ActiveMessages,
        from source: SourceName, random: (UInt64, UInt64)
    ) -> InAppStep<InAppFlow.Step<Value>> {
        let routed = route(decision, of: active, from: source, random: random)
        let offered = Set(decision.state.offers.values.filter { $0.state == .offered }.map(\.message))
        let addressed = rows.addressed.filter { offered.contains($0.registration.id) }
        let committed = InAppFlow.Committed(
            value: value, records: decision.records, nextDue: decision.nextDue, routed: routed,
            addressed: Dictionary(addressed.map { ($0.registration.id, $0) }) { $1 })
        return InAppStep(
            .committed(committed), changes: decision.changes, nextDue: decision.nextDue, events: routed.events)
    }
}
