/// Lays out the rules of a ``RouteMatcher``. Used once for each matcher. The order of equal rules follows the
/// patterns, so results do not depend on hashing.
struct RuleCompiler {
    let arena = Arena()
    /// The alternative of each rule.
    let alternatives: [Pattern.Alternative]
    let numbering: PathNumbering
    private var rules: [RouteMatcher.Rule] = []
    private var routes: [Int32] = []
    private var fields: [RouteMatcher.Field] = []
    private var compiled: [RouteMatcher.Condition] = []
    private(set) var conditions: [Pattern.Condition] = []
    private var unindexed: [Int32] = []
    /// Equal texts are stored once, because `$or` multiplies them.
    private var texts: [[UInt8]: UnsafeBufferPointer<UInt8>] = [:]
    /// The rules filed under each node of the trie.
    private var drafts: [Int: FieldDraft] = [:]

    /// Numbers the rules, chooses the field of each, and lays them out.
    init(_ patterns: [Pattern]) {
        var alternatives: [Pattern.Alternative] = []
        var routes: [[Int32]] = []
        var known: [[Pattern.Field]: Int] = [:]
        for (route, pattern) in patterns.enumerated() {
            for alternative in pattern.alternatives {
                let rule = known[alternative.fields] ?? alternatives.count
                if rule == alternatives.count {
                    known[alternative.fields] = rule
                    alternatives.append(alternative)
                    routes.append([])
                }
                if routes[rule].last != Int32(route) { routes[rule].append(Int32(route)) }
            }
        }
        self.alternatives = alternatives
        numbering = PathNumbering(alternatives.lazy.flatMap(\.fields))
        let selectivity = Selectivity(of: alternatives)
        for (alternative, routes) in zip(alternatives, routes) {
            add(alternative, of: routes, indexedBy: selectivity.bestField(of: alternative))
        }
    }

    /// Adds the rule of an alternative. `routes`: positions of the patterns that have it. Files the rule under the
    /// conditions of its indexed field only; the other fields are evaluated during a search.
    private mutating func add(_ alternative: Pattern.Alternative, of routes: [Int32], indexedBy indexed: Int?) {
        let rule = rules.count
        if indexed == nil { unindexed.append(Int32(rule)) }
        var run: [RouteMatcher.Field] = []
        for (position, field) in alternative.fields.enumerated() {
            let node = numbering.number(of: field.path)
            let own = field.conditions.map { compile($0) }
            let conditions = compiled.appendRun(own)
            run.append(.init(node: Int32(node), conditions: conditions, isIndexed: position == indexed))
            guard position == indexed else { continue }
            for condition in field.conditions { drafts[node, default: .init()].add(condition, of: rule) }
        }
        rules.append(
            .init(
                fields: fields.appendRun(run), routes: self.routes.appendRun(routes),
                namesType: alternative.namesType))
    }

    /// Conditions that have no case of their own are kept in ``conditions``. Appends to ``conditions`` in the order
    /// of the calls; the tables refer to the index.
    private mutating func compile(_ condition: Pattern.Condition) -> RouteMatcher.Condition {
        if case .exists = condition { return .exists }
        if case .string(let text) = condition { return .text(store(text)) }
        if case .anythingBut(let exclusion) = condition, let text = exclusion.onlyText {
            return .anythingButText(store(text))
        }
        conditions.append(condition)
        return .other(Int32(conditions.count - 1))
    }

    /// Copies a string into the arena, or finds its copy.
    private mutating func store(_ text: [UInt8]) -> UnsafeBufferPointer<UInt8> {
        if let known = texts[text] { return known }
        let stored = arena.store(text)
        texts[text] = stored
        return stored
    }

    /// The finished tables, which live as long as the arena. Builds the trie and the index. Call it once: every call
    /// allocates the tables again.
    var tables: UnsafePointer<RouteMatcher.Tables> {
        var allProbes: [Probe] = []
        var candidates: [Candidate] = []
        let probes = drafts.mapValues { allProbes.appendRun($0.probes(&candidates, in: arena)) }
        let index = ValueIndex(probes: arena.store(allProbes), candidates: arena.store(candidates))
        let tables = RouteMatcher.Tables(
            trie: KeyTrie(numbering, probes: probes, in: arena), index: index, rules: arena.store(rules),
            fields: arena.store(fields), conditions: arena.store(compiled), routes: arena.store(routes),
            unindexed: arena.store(unindexed))
        guard let address = arena.store([tables]).baseAddress else { preconditionFailure("Memory has an address.") }
        return address
    }
}

/// Chooses the field under which a rule is filed, so that few rules are evaluated in vain. A condition that many rules
/// share leads to all of them. A condition that many values meet does so for many events. The estimate only affects
/// speed, never the result of a search.
private struct Selectivity {
    /// A condition at a path, which several rules may share.
    private struct Use: Hashable {
        let path: [[UInt8]]
        let condition: Pattern.Condition
    }

    /// How many rules have a condition, and how many different conditions a path has.
    private var uses: [Use: Int] = [:]
    private var variety: [[[UInt8]]: Int] = [:]

    /// Counts all uses first, because the cost of a condition depends on the other rules.
    init(of alternatives: [Pattern.Alternative]) {
        for field in alternatives.lazy.flatMap(\.fields) {
            for condition in field.conditions { uses[Use(path: field.path, condition: condition), default: 0] += 1 }
        }
        for use in uses.keys { variety[use.path, default: 0] += 1 }
    }

    /// The position of the field that finds the fewest rules; nil if the alternative requires no value at all.
    /// Absences are never chosen, because no value leads to them.
    func bestField(of alternative: Pattern.Alternative) -> Int? {
        let fields = alternative.fields
        let costs = fields.map { field in field.conditions.reduce(0) { $0 + cost(of: $1, at: field.path) } }
        return fields.indices.filter { !fields[$0].isAbsence }.min { costs[$0] < costs[$1] }
    }

    /// The number of rules that an average event evaluates because of this condition.
    private func cost(of condition: Pattern.Condition, at path: [[UInt8]]) -> Double {
        // An estimate of the share of events that meet the condition: the more conditions the rules have on a path, the
        // fewer events meet each of them.
        let share =
            switch condition {
            case .anythingBut, .exists: 1.0
            case .wildcard(let wildcard) where wildcard.pieces.allSatisfy(\.isEmpty): 1.0
            case .bool: 0.5
            case .numbers(let keys) where keys.lowerBound < keys.upperBound: 0.5
            default: 1 / Double(1 + variety[path, default: 1])
            }
        return share * Double(uses[Use(path: path, condition: condition), default: 1])
    }
}
