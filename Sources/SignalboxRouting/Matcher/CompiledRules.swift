import SignalboxJSON

/// All rules in plain memory, as ``RuleSearch`` reads them.
final class CompiledRules: @unchecked Sendable {
    // Sendable because nothing is written after `init`; the pointers lead into `arena`.

    struct Rule: BitwiseCopyable {
        let firstField: Int32
        let fieldCount: Int32
        let firstRoute: Int32
        let routeCount: Int32
        let namesType: Bool
    }

    struct Field: BitwiseCopyable {
        let edge: Int32
        let firstCondition: Int32
        /// Nought: there must be no value.
        let conditionCount: Int32
        /// The index has found it already, unless the candidate says otherwise.
        let isAccess: Bool
    }

    struct Condition: BitwiseCopyable {
        /// The place in ``CompiledRules/others``, or one of the two below.
        let other: Int32
        let offset: Int32
        let length: Int32

        static let text: Int32 = -1
        static let anythingButText: Int32 = -2
    }

    /// Everything that is asked about every event, without references to count.
    struct Memory: BitwiseCopyable {
        let tree: KeyTree
        let index: ValueIndex
        let rules: UnsafeBufferPointer<Rule>
        let fields: UnsafeBufferPointer<Field>
        let conditions: UnsafeBufferPointer<Condition>
        let texts: UnsafeBufferPointer<UInt8>
        let routes: UnsafeBufferPointer<Int32>
        /// Rules that ask for no value, and so are asked about every event.
        let always: UnsafeBufferPointer<Int32>
    }

    private let arena = Arena()
    private let kept: UnsafeBufferPointer<Memory>
    /// Conditions other than texts.
    let others: [Pattern.Condition]
    let ways: [Pattern.Way]
    /// For each edge the keys that lead to it, where a rule asks for something there.
    let paths: [[[UInt8]]]

    var memory: UnsafePointer<Memory> {
        guard let memory = kept.baseAddress else { preconditionFailure("Memory has an address.") }
        return memory
    }

    init(_ patterns: [Pattern]) {
        var draft = RuleDraft(patterns)
        let choice = AccessChoice(of: draft.ways)
        let keys = KeyPaths(draft.ways.lazy.flatMap { $0.fields.lazy.map(\.path) })
        var entries: [Int: FieldEntries] = [:]
        var always: [Int32] = []
        for (rule, way) in draft.ways.enumerated() {
            let access = choice.field(of: way)
            draft.add(way, access: access, keys)
            guard let access, let edge = keys.edge(at: way.fields[access].path) else {
                always.append(Int32(rule))
                continue
            }
            for condition in way.fields[access].conditions {
                entries[edge, default: FieldEntries()].add(condition, of: rule)
            }
        }
        var index = ValueIndex.Draft()
        var probes: [Int: ValueIndex.Probes] = [:]
        for (edge, entries) in entries { probes[edge] = index.add(entries, in: arena) }
        kept = arena.keep([
            Memory(
                tree: KeyTree(keys, probes: probes, in: arena), index: index.index(in: arena),
                rules: arena.keep(draft.rules), fields: arena.keep(draft.fields),
                conditions: arena.keep(draft.conditions), texts: arena.keep(draft.texts),
                routes: arena.keep(draft.routes), always: arena.keep(always))
        ])
        others = draft.others
        ways = draft.ways
        paths = draft.paths(keys)
    }
}

/// Rules while they are laid out.
private struct RuleDraft {
    private(set) var ways: [Pattern.Way] = []
    private var routesOfWays: [[Int32]] = []
    private(set) var rules: [CompiledRules.Rule] = []
    private(set) var fields: [CompiledRules.Field] = []
    private(set) var conditions: [CompiledRules.Condition] = []
    private(set) var texts: [UInt8] = []
    private var offsets: [[UInt8]: Int32] = [:]
    private(set) var routes: [Int32] = []
    private(set) var others: [Pattern.Condition] = []

    /// Gathers the ways of all patterns, equal ones once.
    init(_ patterns: [Pattern]) {
        var known: [Pattern.Way: Int] = [:]
        for (route, pattern) in patterns.enumerated() {
            for way in pattern.ways {
                if let rule = known[way] {
                    if routesOfWays[rule].last != Int32(route) { routesOfWays[rule].append(Int32(route)) }
                } else {
                    known[way] = ways.count
                    ways.append(way)
                    routesOfWays.append([Int32(route)])
                }
            }
        }
    }

    /// The rule of the next way.
    mutating func add(_ way: Pattern.Way, access: Int?, _ keys: KeyPaths) {
        let own = routesOfWays[rules.count]
        rules.append(
            CompiledRules.Rule(
                firstField: Int32(fields.count), fieldCount: Int32(way.fields.count), firstRoute: Int32(routes.count),
                routeCount: Int32(own.count), namesType: way.namesType))
        routes += own
        for (place, field) in way.fields.enumerated() {
            guard let edge = keys.edge(at: field.path) else { preconditionFailure("All paths have been numbered.") }
            fields.append(
                CompiledRules.Field(
                    edge: Int32(edge), firstCondition: Int32(conditions.count),
                    conditionCount: Int32(field.conditions.count), isAccess: place == access))
            for condition in field.conditions { add(condition) }
        }
    }

    private mutating func add(_ condition: Pattern.Condition) {
        switch condition {
        case .string(let text): add(text, as: CompiledRules.Condition.text)
        case .anythingBut(let unwanted):
            guard let text = unwanted.onlyText else { return add(other: condition) }
            add(text, as: CompiledRules.Condition.anythingButText)
        default: add(other: condition)
        }
    }

    /// Equal texts are stored once, because `$or` multiplies them.
    private mutating func add(_ text: [UInt8], as kind: Int32) {
        let offset = offsets[text] ?? Int32(texts.count)
        if offsets.updateValue(offset, forKey: text) == nil { texts += text }
        conditions.append(CompiledRules.Condition(other: kind, offset: offset, length: Int32(text.count)))
    }

    private mutating func add(other condition: Pattern.Condition) {
        conditions.append(CompiledRules.Condition(other: Int32(others.count), offset: 0, length: 0))
        others.append(condition)
    }

    func paths(_ keys: KeyPaths) -> [[[UInt8]]] {
        var paths = [[[UInt8]]](repeating: [], count: keys.edges.count)
        for way in ways {
            for field in way.fields { keys.edge(at: field.path).map { paths[$0] = field.path } }
        }
        return paths
    }
}
