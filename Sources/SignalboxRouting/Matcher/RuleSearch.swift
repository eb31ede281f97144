import SignalboxJSON

/// The search for the rules that one event matches.
struct RuleSearch {
    /// Kept by who searches.
    private unowned(unsafe) let compiled: CompiledRules
    private let memory: UnsafePointer<CompiledRules.Memory>
    private let event: JSONValue
    private let namingType: Bool
    /// For each edge the place of its value in the event: see ``nothing`` and ``many``.
    private let places: UnsafeMutablePointer<Int32>
    /// The edges that have been met.
    private let met: UnsafeMutablePointer<Int32>
    private var metCount = 0
    /// Routes, perhaps several times.
    private var found: [Int] = []
    /// Rules that were evaluated. Each is evaluated once, because its answer depends on the whole event.
    private let asked: Marks
    /// Lists of candidates that were visited, by their first candidate.
    private let walked: Marks

    /// No value, or one that is none: an object, or an array that holds nothing.
    private static let nothing: Int32 = 0
    /// An array on the way, or here.
    private static let many: Int32 = -1

    /// Memory for a search, in numbers: two for each edge, a bit for each rule and for each candidate.
    static func space(for compiled: CompiledRules) -> Int {
        let memory = compiled.memory.pointee
        return 2 * memory.tree.edges.count + Marks.size(memory.rules.count)
            + Marks.size(memory.index.candidateCount) + 1
    }

    init(
        _ compiled: CompiledRules, _ event: JSONValue, namingType: Bool, _ space: UnsafeMutableBufferPointer<Int32>
    ) {
        self.compiled = compiled
        memory = compiled.memory
        self.event = event
        self.namingType = namingType
        guard let start = space.baseAddress else { preconditionFailure("Space has an address.") }
        let count = memory.pointee.tree.edges.count
        places = start
        met = start + count
        places.initialize(repeating: Self.nothing, count: count)
        asked = Marks(at: start + 2 * count, for: memory.pointee.rules.count)
        walked = Marks(
            at: start + 2 * count + Marks.size(memory.pointee.rules.count),
            for: memory.pointee.index.candidateCount)
    }

    mutating func run(_ work: inout MatchWork) {
        walk(event, table: 0, &work)
        for number in 0..<metCount where !work.isExceeded {
            let edge = Int(met[number])
            let probes = memory.pointee.tree.edges[edge].probes
            guard probes.count > 0, places[edge] != Self.nothing else { continue }
            guard places[edge] == Self.many else {
                look(for: event.value(atTapeIndex: Int(places[edge])), probes, &work)
                continue
            }
            Pattern.anyValue(at: compiled.paths[edge][...], in: event, &work) { value, work in
                look(for: value, probes, &work)
                return work.isExceeded
            }
        }
        for rule in memory.pointee.always where !work.isExceeded { ask(UInt32(rule) << 1 | 1, &work) }
    }

    /// The routes that were found, each once, in order.
    consuming func finish() -> [Int] {
        var found = found
        guard found.count > 1 else { return found }
        found.sort()
        var last = -1
        found.removeAll { route in
            defer { last = route }
            return route == last
        }
        return found
    }

    // MARK: The event

    /// Notes where values stand; of repeated keys, the last one counts.
    private mutating func walk(_ object: JSONValue, table: Int, _ work: inout MatchWork) {
        let start = metCount
        let tree = memory.pointee.tree
        var count = metCount
        var visited = 0
        let (places, met) = (places, met)
        for (key, value) in object.members {
            visited += 1
            let edge = tree.edge(in: table, key)
            guard edge >= 0 else { continue }
            if places[edge] == Self.nothing {
                met[count] = Int32(edge)
                count += 1
            }
            places[edge] = Int32(truncatingIfNeeded: value.tapeIndex)
        }
        metCount = count
        work.spend(visited)
        for number in start..<count {
            let edge = Int(met[number])
            let value = event.value(atTapeIndex: Int(places[edge]))
            if value.isObject {
                places[edge] = Self.nothing
                let table = Int(tree.edges[edge].table)
                if table >= 0 { walk(value, table: table, &work) }
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
        for below in (edge + 1)..<Int(memory.pointee.tree.edges[edge].end) {
            places[below] = Self.many
            met[metCount] = Int32(below)
            metCount += 1
        }
    }

    // MARK: Rules

    @inline(__always)
    private mutating func look(for value: JSONValue, _ probes: ValueIndex.Probes, _ work: inout MatchWork) {
        work.spend(Int(probes.count) * (1 + (value.utf8?.count ?? 0)))
        let walked = walked
        memory.pointee.index.forEachCandidate(of: value, probes) {
            walked.insert(Int($0.start))
        } body: {
            ask($0, &work)
        }
    }

    /// Adds the routes of a rule if all of its fields match.
    private mutating func ask(_ candidate: UInt32, _ work: inout MatchWork) {
        work.spend(1)
        let number = Int(candidate >> 1)
        guard !work.isExceeded, asked.insert(number) else { return }
        let rule = memory.pointee.rules[number]
        if namingType, !rule.namesType { return }
        var hasMany = false
        for place in Int(rule.firstField)..<Int(rule.firstField + rule.fieldCount) {
            let field = memory.pointee.fields[place]
            let value = places[Int(field.edge)]
            if value == Self.many {
                hasMany = true
            } else if field.conditionCount == 0 {
                guard value == Self.nothing else { return }
            } else {
                guard value != Self.nothing else { return }
                if field.isAccess, candidate & 1 == 0 { continue }
                guard matches(field, event.value(atTapeIndex: Int(value)), &work) else { return }
            }
        }
        guard !hasMany || compiled.ways[number].matches(event, &work) else { return }
        for route in Int(rule.firstRoute)..<Int(rule.firstRoute + rule.routeCount) {
            found.append(Int(memory.pointee.routes[route]))
        }
    }

    private func matches(_ field: CompiledRules.Field, _ value: JSONValue, _ work: inout MatchWork) -> Bool {
        for place in Int(field.firstCondition)..<Int(field.firstCondition + field.conditionCount) {
            let condition = memory.pointee.conditions[place]
            if condition.other >= 0 {
                if compiled.others[Int(condition.other)].matches(value, &work) { return true }
            } else {
                work.spend(1 + Int(condition.length))
                let isText = value.utf8.map { $0.equals(text(of: condition)) } ?? false
                if isText != (condition.other == CompiledRules.Condition.anythingButText) { return true }
            }
        }
        return false
    }

    @inline(__always)
    private func text(of condition: CompiledRules.Condition) -> UnsafeBufferPointer<UInt8> {
        let start = Int(condition.offset)
        return UnsafeBufferPointer(rebasing: memory.pointee.texts[start..<(start + Int(condition.length))])
    }
}

/// A bit set over a range of numbers.
private struct Marks: BitwiseCopyable {
    private let words: UnsafeMutablePointer<Int32>

    /// Numbers of memory that this many bits take.
    static func size(_ count: Int) -> Int { (count + 31) / 32 }

    /// Clears all bits. `words`: memory of ``size(_:)`` numbers.
    init(at words: UnsafeMutablePointer<Int32>, for count: Int) {
        words.initialize(repeating: 0, count: Self.size(count))
        self.words = words
    }

    /// Sets a bit; false when it was already set.
    @inline(__always)
    func insert(_ number: Int) -> Bool {
        let bit: Int32 = 1 << Int32(truncatingIfNeeded: number & 31)
        defer { words[number >> 5] |= bit }
        return words[number >> 5] & bit == 0
    }
}
