/// Active messages by trigger. A decision visits only the messages filed under its event's kind and name.
package struct MessageIndex: Sendable {
    private var definitions: [MessageID: Definition] = [:]
    private var byTrigger: [TriggerKey: Filed] = [:]
    /// Messages with a companion, by the key of the pair.
    private var paired: [String: [Definition]] = [:]
    /// Whether any message is filed under ``TriggerKey/immediate``: most decisions need one key only.
    private var hasImmediate = false

    /// The messages under one key, and the sum of their weights.
    private struct Filed {
        var definitions: [Definition] = []
        var weight = 0
    }

    /// Without messages.
    package init() {}

    /// Of several revisions of one message, the latest stays.
    package init(_ definitions: some Sequence<Definition>) {
        for definition in definitions { register(definition) }
    }

    /// Adds a message or replaces an earlier revision. Changes nothing if the index has this revision or a later
    /// revision. Offers keep their history: a waiting offer is checked against the new revision when its time comes.
    package mutating func register(_ definition: Definition) {
        let id = definition.message.id
        if let former = definitions[id] {
            guard former.message.revision < definition.message.revision else { return }
            withdraw(id)
        }
        definitions[id] = definition
        for key in definition.keys {
            byTrigger[key, default: Filed()].definitions.append(definition)
            byTrigger[key, default: Filed()].weight += definition.weight
        }
        if let pair = definition.message.pair { paired[pair.key, default: []].append(definition) }
        hasImmediate = byTrigger[.immediate] != nil
    }

    /// Removes a message. Waiting offers end as `withdrawn` at their device's next decision; the impression of an
    /// offer that a client holds still counts.
    @discardableResult
    package mutating func withdraw(_ id: MessageID) -> Definition? {
        guard let definition = definitions.removeValue(forKey: id) else { return nil }
        for key in definition.keys {
            byTrigger[key]?.definitions.removeAll { $0.message.id == id }
            byTrigger[key]?.weight -= definition.weight
            if byTrigger[key]?.definitions.isEmpty == true { byTrigger[key] = nil }
        }
        if let key = definition.message.pair?.key {
            paired[key]?.removeAll { $0.message.id == id }
            if paired[key]?.isEmpty == true { paired[key] = nil }
        }
        hasImmediate = byTrigger[.immediate] != nil
        return definition
    }

    /// The position of the first trigger under which this message, in place of its earlier revision, would make a
    /// decision cost more than ``Bounds/workPerTrigger``; nil if the message fits. A caller that registers only
    /// messages that fit bounds the work of each decision.
    package func excess(of definition: Definition) -> Int? {
        let former = definitions[definition.message.id]
        let formerKeys = former?.keys ?? []
        return definition.message.triggers.firstIndex { trigger in
            let own = formerKeys.contains(trigger.key) ? former?.weight ?? 0 : 0
            return (byTrigger[trigger.key]?.weight ?? 0) - own + definition.weight > Bounds.workPerTrigger
        }
    }

    /// The registered revision.
    package subscript(id: MessageID) -> Definition? { definitions[id] }

    /// Messages, not triggers.
    package var count: Int { definitions.count }

    var isEmpty: Bool { definitions.isEmpty }

    /// The registered messages, in no particular order.
    package var all: some Collection<Definition> { definitions.values }

    /// Each message filed under the event once, in no particular order.
    func candidates(for event: TriggerEvent) -> [Definition] {
        switch event {
        case .sessionStart: return filed(under: .sessionStart)
        case .event(let name, _): return filed(under: .event(name))
        case .messageClick(let message, _): return filed(under: .messageClick(message))
        case .screen(let name): return filed(under: .screen(name))
        case .rule(let keyword): return filed(under: .rule(keyword))
        case .pushOpen(let campaign):
            let any = filed(under: .pushOpen(nil))
            return campaign == nil ? any : Self.unite(any, byTrigger[.pushOpen(campaign)]?.definitions ?? [])
        case .purchase(let product, _):
            let any = filed(under: .purchase(nil))
            return product == nil ? any : Self.unite(any, byTrigger[.purchase(product)]?.definitions ?? [])
        case .test: return byTrigger[.test]?.definitions ?? []
        case .poll: return byTrigger[.immediate]?.definitions ?? []
        case .show(let id): return definitions[id].map { [$0] } ?? []
        }
    }

    /// The messages under a key, and those that need no event.
    private func filed(under key: TriggerKey) -> [Definition] {
        let filed = byTrigger[key]?.definitions ?? []
        return hasImmediate ? Self.unite(filed, byTrigger[.immediate]?.definitions ?? []) : filed
    }

    /// The messages of both lists, each once.
    private static func unite(_ one: [Definition], _ other: [Definition]) -> [Definition] {
        if one.isEmpty || other.isEmpty { return one.isEmpty ? other : one }
        var seen: Set<MessageID> = []
        return (one + other).filter { seen.insert($0.message.id).inserted }
    }

    /// The other message of a pair; the first id if there are several.
    func companion(of pair: Message.Pair) -> Definition? {
        paired[pair.key]?.filter { $0.message.pair?.role != pair.role }.min { $0.message.id < $1.message.id }
    }

    /// Each message with a trigger for a slot of one of these names once, in no particular order.
    func candidates(forSlots names: some Sequence<String>) -> [Definition] {
        names.reduce(into: []) { $0 = Self.unite($0, byTrigger[.slot($1)]?.definitions ?? []) }
    }
}

extension Definition {
    /// The keys under which the message is filed.
    fileprivate var keys: Set<TriggerKey> { Set(message.triggers.map(\.key)) }
}

/// The messages of one decision: the index that all devices share, and the few that are addressed to this device or
/// user, which the store loads with their rows.
package struct ActiveMessages: Sendable {
    /// For all devices.
    package var shared: MessageIndex
    /// For this device or user.
    package var addressed: MessageIndex

    /// An addressed message hides a shared message with its id.
    package init(_ shared: MessageIndex, addressed: MessageIndex = MessageIndex()) {
        (self.shared, self.addressed) = (shared, addressed)
    }

    package subscript(id: MessageID) -> Definition? { addressed[id] ?? shared[id] }

    func candidates(for event: TriggerEvent) -> [Definition] {
        if addressed.isEmpty { return shared.candidates(for: event) }
        return Self.merge(addressed.candidates(for: event), shared.candidates(for: event))
    }

    func companion(of pair: Message.Pair) -> Definition? {
        addressed.companion(of: pair) ?? shared.companion(of: pair)
    }

    func candidates(forSlots names: some Sequence<String>) -> [Definition] {
        Self.merge(addressed.candidates(forSlots: names), shared.candidates(forSlots: names))
    }

    /// Addressed messages hide shared ones with their ids.
    private static func merge(_ addressed: [Definition], _ shared: [Definition]) -> [Definition] {
        guard !addressed.isEmpty else { return shared }
        let ids = Set(addressed.map(\.message.id))
        return addressed + shared.filter { !ids.contains($0.message.id) }
    }

    /// The messages whose campaign tally a decision about this event may read, for the store to load.
    package func tallies(for event: TriggerEvent) -> [MessageID] {
        candidates(for: event).filter(\.hasCampaignLimit).map(\.message.id)
    }

    /// The messages with a campaign tally that the slots of a page may show, by the names of the slots' labels.
    package func tallies(ofSlots names: Set<String>) -> [MessageID] {
        candidates(forSlots: names).filter(\.hasCampaignLimit).map(\.message.id)
    }

    /// The messages among these that have a campaign tally. A report may offer a runner-up of its offer.
    package func tallies(of messages: [MessageID]) -> [MessageID] {
        messages.filter { self[$0]?.hasCampaignLimit ?? false }
    }
}
