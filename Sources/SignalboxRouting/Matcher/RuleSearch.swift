import SignalboxJSON

/// The search for the rules that one event matches.
struct RuleSearch {
    private let compiled: CompiledRules
    private let event: JSONValue
    private let namingType: Bool
    /// For each edge the place of its value in the event: see ``nothing`` and ``many``.
    private let places: UnsafeMutablePointer<Int32>
    /// The edges that have been met.
    private let met: UnsafeMutablePointer<Int32>
    private var metCount = 0
    /// Routes, perhaps several times.
    private var found: [Int32] = []
    /// Rules that have been asked: kept only for arrays, whose elements may lead to one rule again and again.
    private var asked: Set<UInt32> = []

    /// No value, or one that is none: an object, or an array that holds nothing.
    private static let nothing: Int32 = 0
    /// An array on the way, or here.
    private static let many: Int32 = -1

    /// `space`: two numbers for each edge.
    init(
        _ compiled: CompiledRules, _ event: JSONValue, namingType: Bool, _ space: UnsafeMutableBufferPointer<Int32>
    ) {
        self.compiled = compiled
        self.event = event
        self.namingType = namingType
        guard let start = space.baseAddress else { preconditionFailure("Space has an address.") }
        let count = compiled.tree.edges.count
        places = start
        met = start + count
        places.initialize(repeating: Self.nothing, count: count)
    }

    mutating func run() {
        walk(event, table: 0)
        for number in 0..<metCount {
            let edge = Int(met[number])
            let index = Int(compiled.tree.edges[edge].index)
            guard index >= 0, places[edge] != Self.nothing else { continue }
            guard places[edge] == Self.many else {
                look(for: event.value(at: Int(places[edge])), in: index)
                continue
            }
            Pattern.anyValue(at: compiled.paths[edge][...], in: event) { value in
                lookOnce(for: value, in: index)
                return false
            }
        }
        for rule in compiled.always { ask(UInt32(rule) << 1 | 1) }
    }

    /// The routes that were found, each once, in order.
    func matches() -> [Int] {
        guard found.count > 1 else { return found.map { Int($0) } }
        var matches: [Int] = []
        for route in found.sorted() where matches.last != Int(route) { matches.append(Int(route)) }
        return matches
    }

    // MARK: The event

    /// Notes where values stand; of repeated keys, the last one counts.
    private mutating func walk(_ object: JSONValue, table: Int) {
        let start = metCount
        let tree = compiled.tree
        var count = metCount
        let (places, met) = (places, met)
        object.forEachHead { head, key, value in
            let edge = tree.edge(in: table, head, key)
            guard edge >= 0 else { return }
            if places[edge] == Self.nothing {
                met[count] = Int32(edge)
                count += 1
            }
            places[edge] = Int32(truncatingIfNeeded: value.place)
        }
        metCount = count
        for number in start..<count {
            let edge = Int(met[number])
            let value = event.value(at: Int(places[edge]))
            if value.isObject {
                places[edge] = Self.nothing
                let table = Int(tree.edges[edge].table)
                if table >= 0 { walk(value, table: table) }
            } else if value.isArray {
                note(array: value, at: edge)
            }
        }
    }

    /// Everything below an array may stand there many times.
    private mutating func note(array: JSONValue, at edge: Int) {
        guard !array.isEmptyContainer else {
            places[edge] = Self.nothing
            return
        }
        places[edge] = Self.many
        for below in (edge + 1)..<Int(compiled.tree.edges[edge].end) {
            places[below] = Self.many
            met[metCount] = Int32(below)
            metCount += 1
        }
    }

    // MARK: Rules

    @inline(__always)
    private mutating func look(for value: JSONValue, in index: Int) {
        compiled.indexes[index].forEachCandidate(of: value) { ask($0) }
    }

    private mutating func lookOnce(for value: JSONValue, in index: Int) {
        compiled.indexes[index].forEachCandidate(of: value) { candidate in
            if asked.insert(candidate >> 1).inserted { ask(candidate) }
        }
    }

    /// Adds the routes of a rule if all of its fields match.
    private mutating func ask(_ candidate: UInt32) {
        let number = Int(candidate >> 1)
        let rule = compiled.rules[number]
        if namingType, !rule.namesType { return }
        var hasMany = false
        for place in Int(rule.firstField)..<Int(rule.firstField + rule.fieldCount) {
            let field = compiled.fields[place]
            let value = places[Int(field.edge)]
            if value == Self.many {
                hasMany = true
            } else if field.conditionCount == 0 {
                guard value == Self.nothing else { return }
            } else {
                guard value != Self.nothing else { return }
                if field.isAccess, candidate & 1 == 0 { continue }
                guard matches(field, event.value(at: Int(value))) else { return }
            }
        }
        guard !hasMany || compiled.ways[number].matches(event) else { return }
        for route in Int(rule.firstRoute)..<Int(rule.firstRoute + rule.routeCount) {
            found.append(compiled.routes[route])
        }
    }

    private func matches(_ field: CompiledRules.Field, _ value: JSONValue) -> Bool {
        for place in Int(field.firstCondition)..<Int(field.firstCondition + field.conditionCount) {
            let condition = compiled.conditions[place]
            if condition.other >= 0 {
                if compiled.others[Int(condition.other)].matches(value) { return true }
            } else if let text = value.utf8, text.equals(self.text(of: condition)) {
                return true
            }
        }
        return false
    }

    @inline(__always)
    private func text(of condition: CompiledRules.Condition) -> UnsafeBufferPointer<UInt8> {
        let start = Int(condition.offset)
        return UnsafeBufferPointer(rebasing: compiled.texts[start..<(start + Int(condition.length))])
    }
}
