import SignalboxJSON

/// Searches the rules of a ``RouteMatcher`` that match one event. One search handles one event, on one task. The
/// caller lends its memory.
struct RuleSearch {
    /// The caller keeps the matcher alive.
    private unowned(unsafe) let matcher: RouteMatcher
    private let tables: UnsafePointer<RouteMatcher.Tables>
    /// The values that ``locations`` refers to are in its document.
    private let event: JSONValue
    /// Whether only alternatives that name a `type` may match.
    private let namingType: Bool
    /// For each node of the trie the tape index of its value in the event, or one of the two constants below.
    private let locations: UnsafeMutablePointer<Int32>
    /// The nodes that have a value.
    private let reached: UnsafeMutablePointer<Int32>
    private var reachedCount = 0
    /// Rules that were evaluated: once each, because the answer depends on the whole event.
    private let evaluated: BitSet
    /// Posting lists that were visited, by where they start.
    private let visited: BitSet
    /// Routes, perhaps repeated.
    private var found: [Int] = []

    /// The event has no value here. Objects and empty arrays are not values.
    private static let absent: Int32 = 0
    /// There is an array here or on the way here, so there may be many values.
    private static let inArray: Int32 = -1

    /// The memory that a search needs. In words of 32 bits; it grows with the numbers of paths, rules and candidates
    /// in the config.
    static func capacity(for tables: RouteMatcher.Tables) -> Int {
        2 * tables.trie.nodes.count + BitSet.words(for: tables.rules.count)
            + BitSet.words(for: tables.index.candidateCount)
    }

    /// `memory`: of the size ``capacity(for:)``. Initialises the memory; its former content does not matter.
    init(_ matcher: RouteMatcher, _ event: JSONValue, namingType: Bool, _ memory: UnsafeMutableBufferPointer<Int32>) {
        (self.matcher, self.event, self.namingType) = (matcher, event, namingType)
        tables = matcher.tables
        guard let start = memory.baseAddress else { preconditionFailure("The memory has an address.") }
        let (nodes, rules) = (tables.pointee.trie.nodes.count, tables.pointee.rules.count)
        locations = start
        locations.initialize(repeating: Self.absent, count: nodes)
        reached = start + nodes
        evaluated = BitSet(at: start + 2 * nodes, for: rules)
        visited = BitSet(at: start + 2 * nodes + BitSet.words(for: rules), for: tables.pointee.index.candidateCount)
    }

    /// Returns the routes that match, in order. The result is invalid once the work exceeds its limit. Walks the
    /// event once, looks up every value with probes, then evaluates the rules that no value leads to.
    mutating func run(_ work: inout MatchWork) -> [Int] {
        walk(event, from: 0, &work)
        for position in 0..<reachedCount where !work.isExceeded {
            let node = Int(reached[position])
            let probes = tables.pointee.trie.nodes[node].probes
            guard !probes.isEmpty, locations[node] != Self.absent else { continue }
            guard locations[node] == Self.inArray else {
                find(event.value(atTapeIndex: Int(locations[node])), probes, &work)
                continue
            }
            Pattern.anyValue(at: matcher.paths[node][...], in: event, &work) { value, work in
                find(value, probes, &work)
                return work.isExceeded
            }
        }
        for rule in tables.pointee.unindexed where !work.isExceeded {
            evaluate(Candidate(rule: Int(rule), needsCheck: true), &work)
        }
        guard found.count > 1 else { return found }
        found.sort()
        var last = -1
        found.removeAll { route in
            defer { last = route }
            return route == last
        }
        return found
    }

    /// Records where the values of an object are. If a key is repeated, the last one counts: so all keys come before
    /// the objects below them. Spends a unit for each member, even if no pattern names it.
    private mutating func walk(_ object: JSONValue, from parent: Int, _ work: inout MatchWork) {
        let start = reachedCount
        var (end, members) = (start, 0)
        for (key, value) in object.members {
            members += 1
            guard let node = tables.pointee.trie.child(of: parent, key) else { continue }
            if locations[node] == Self.absent {
                reached[end] = Int32(node)
                end += 1
            }
            locations[node] = Int32(truncatingIfNeeded: value.tapeIndex)
        }
        reachedCount = end
        work.spend(members)
        for position in start..<end {
            let node = Int(reached[position])
            let value = event.value(atTapeIndex: Int(locations[node]))
            if value.isObject {
                locations[node] = Self.absent
                if tables.pointee.trie.nodes[node].hasChildren { walk(value, from: node, &work) }
            } else if value.isArray {
                locations[node] = value.isEmptyContainer ? Self.absent : Self.inArray
                if !value.isEmptyContainer { markDescendants(of: node) }
            }
        }
    }

    /// Everything below an array may be there many times. Patterns are then evaluated against all elements, by
    /// ``Pattern/anyValue(at:in:_:_:)``.
    private mutating func markDescendants(of node: Int) {
        for descendant in node + 1..<Int(tables.pointee.trie.nodes[node].end) {
            locations[descendant] = Self.inArray
            reached[reachedCount] = Int32(descendant)
            reachedCount += 1
        }
    }

    /// Evaluates the rules that a value leads to.
    @inline(__always)
    private mutating func find(_ value: JSONValue, _ probes: Run, _ work: inout MatchWork) {
        work.spend(Int(probes.count) * (1 + (value.utf8?.count ?? 0)))
        let visited = visited
        tables.pointee.index.forEachCandidate(of: value, probes) {
            visited.insert(Int($0.start))
        } body: {
            evaluate($0, &work)
        }
    }

    /// Adds the routes of a rule if all fields of the rule match. Evaluates each rule at most once for each event.
    /// Arrays make it evaluate the whole alternative by ``PatternNode``.
    private mutating func evaluate(_ candidate: Candidate, _ work: inout MatchWork) {
        work.spend(1)
        guard !work.isExceeded, evaluated.insert(candidate.rule) else { return }
        let rule = tables.pointee.rules[candidate.rule]
        if namingType, !rule.namesType { return }
        var hasArray = false
        for position in rule.fields.range {
            let field = tables.pointee.fields[position]
            let location = locations[Int(field.node)]
            if location == Self.inArray {
                hasArray = true
            } else if field.conditions.isEmpty || location == Self.absent {
                guard field.conditions.isEmpty, location == Self.absent else { return }
            } else if !field.isIndexed || candidate.needsCheck {
                guard matches(field, event.value(atTapeIndex: Int(location)), &work) else { return }
            }
        }
        guard !hasArray || matcher.alternatives[candidate.rule].matches(event, &work) else { return }
        for position in rule.routes.range { found.append(Int(tables.pointee.routes[position])) }
    }

    /// Whether a value meets one of the conditions of a field. Conditions of one field are alternatives, so the first
    /// one that matches decides.
    private func matches(_ field: RouteMatcher.Field, _ value: JSONValue, _ work: inout MatchWork) -> Bool {
        for position in field.conditions.range {
            switch tables.pointee.conditions[position] {
            case .text(let text):
                work.spend(1 + text.count)
                if value.utf8?.equals(text) ?? false { return true }
            case .anythingButText(let text):
                work.spend(1 + text.count)
                if !(value.utf8?.equals(text) ?? false) { return true }
            case .exists:
                work.spend(1)
                return true
            case .other(let number): if matcher.conditions[Int(number)].matches(value, &work) { return true }
            }
        }
        return false
    }
}

/// A set of numbers from 0 up to a count, in memory of its owner.
private struct BitSet: BitwiseCopyable {
    private let words: UnsafeMutablePointer<Int32>

    /// The words of memory for a set of `count` numbers.
    static func words(for count: Int) -> Int { (count + 31) / 32 }

    /// Starts empty. `words`: ``words(for:)`` of them.
    init(at words: UnsafeMutablePointer<Int32>, for count: Int) {
        words.initialize(repeating: 0, count: Self.words(for: count))
        self.words = words
    }

    /// Returns false if the number was in the set before. Constant time. The caller passes numbers below the count
    /// only.
    @inline(__always)
    func insert(_ number: Int) -> Bool {
        let bit: Int32 = 1 << Int32(truncatingIfNeeded: number & 31)
        defer { words[number >> 5] |= bit }
        return words[number >> 5] & bit == 0
    }
}
