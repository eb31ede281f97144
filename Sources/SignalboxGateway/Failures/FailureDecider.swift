package import SignalboxConfig
import SignalboxRouting

/// Decides which failure rule takes a push, by the number of pushes that each rule has selected. A pure value: the same
/// rules and pushes lead to the same decisions.
package struct FailureDecider: Sendable {
    /// A rule with its counters.
    package struct Entry: Sendable {
        package let prepared: PreparedFailure
        /// True for a rule of the API, false for one of the config.
        package let isFromAPI: Bool
        /// Unique among the rules of the process; a changed rule has a new one.
        package let id: Int
        /// Pushes that the rule selected.
        package fileprivate(set) var selected = 0
        /// Pushes that the rule took.
        package fileprivate(set) var taken = 0

        /// The rule that took the push.
        package var rule: FailureRule { prepared.rule }
    }

    /// The rules of the API, which precede those of the config; the newest last.
    private var api: [Entry] = []
    /// The rules of the config, in its order.
    private var file: [Entry] = []
    private var lastID = 0

    /// Rules of a config; none by default.
    package init(_ rules: [PreparedFailure] = []) { replaceFile(by: rules) }

    /// The rules of a config, for a run without a gateway. `hash`: the hash of the events of the run.
    init(_ selectors: [FailureSelector], hashedBy hash: TokenHash) {
        self.init(selectors.map { PreparedFailure($0, hashedBy: hash) })
    }

    /// The counters of a rule.
    package struct Counts: Sendable, Equatable, Codable {
        /// Pushes that the rule selected.
        package var selected = 0
        /// Pushes that the rule took.
        package var taken = 0
    }

    /// The counters of the config's rules, by name. Names without a rule are ignored.
    package var counts: [String: Counts] {
        get {
            Dictionary(file.map { ($0.rule.name, Counts(selected: $0.selected, taken: $0.taken)) }) { first, _ in first
            }
        }
        set {
            for position in file.indices {
                guard let counts = newValue[file[position].rule.name] else { continue }
                (file[position].selected, file[position].taken) = (counts.selected, counts.taken)
            }
        }
    }

    /// All rules in the order of evaluation. A rule of the API replaces that of the config with its name.
    package var entries: [Entry] {
        let names = Set(api.map(\.rule.name))
        return api + file.filter { !names.contains($0.rule.name) }
    }

    /// Returns the first rule whose turn it is, and counts the push; nil if no rule takes it. `selected`: the ids of
    /// the rules that select the push, in the order of evaluation; ids of former rules have no effect. A push that a
    /// rule takes does not count for later rules.
    package mutating func decide(_ selected: [Int]) -> FailureRule? {
        for id in selected {
            let rule: FailureRule?
            if let position = api.firstIndex(where: { $0.id == id }) {
                rule = api[position].count()
            } else if let position = file.firstIndex(where: { $0.id == id }) {
                rule = file[position].count()
            } else {
                rule = nil
            }
            if let rule { return rule }
        }
        return nil
    }

    /// Replaces the rules of the config. Equal rules keep their counters.
    package mutating func replaceFile(by rules: [PreparedFailure]) {
        let former = Dictionary(file.map { ($0.rule.name, $0) }) { first, _ in first }
        file = rules.map { rule in
            if let known = former[rule.rule.name], known.prepared == rule { return known }
            return entry(rule, isFromAPI: false)
        }
    }

    /// Adds a rule of the API, or replaces the rule of the same name. Its counters begin at 0. Returns whether it is
    /// new, or nil if the API already has ``FailureRule/most`` rules.
    package mutating func put(_ rule: PreparedFailure) -> Bool? {
        if let position = api.firstIndex(where: { $0.rule.name == rule.rule.name }) {
            api[position] = entry(rule, isFromAPI: true)
            return false
        }
        guard api.count < FailureRule.most else { return nil }
        api.append(entry(rule, isFromAPI: true))
        return true
    }

    /// Removes a rule of the API. Returns false if there is none of this name.
    package mutating func remove(_ name: String) -> Bool {
        guard let position = api.firstIndex(where: { $0.rule.name == name }) else { return false }
        api.remove(at: position)
        return true
    }

    /// Sets all counters to 0.
    package mutating func reset() {
        for position in api.indices { api[position].reset() }
        for position in file.indices { file[position].reset() }
    }

    private mutating func entry(_ rule: PreparedFailure, isFromAPI: Bool) -> Entry {
        lastID += 1
        return Entry(prepared: rule, isFromAPI: isFromAPI, id: lastID)
    }
}

extension FailureDecider.Entry {
    /// Counts a selected push. Returns the rule if it takes the push.
    fileprivate mutating func count() -> FailureRule? {
        selected += 1
        guard rule.takes(selected) else { return nil }
        taken += 1
        return rule
    }

    fileprivate mutating func reset() { (selected, taken) = (0, 0) }
}
