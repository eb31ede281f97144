import SignalboxConfig
import SignalboxJSON
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct PatternScopeTests {
    private static func covers(_ wide: String, _ narrow: String) throws -> Bool {
        var scope = PatternScope()
        return scope.covers(try PatternTests.pattern(wide), try PatternTests.pattern(narrow))
    }

    @Test(arguments: [
        (#"{}"#, #"{"a":["x"]}"#),
        (#"{"a":["x"]}"#, #"{"a":["x"],"b":[1]}"#),
        (#"{"a":["x",{"prefix":"y"}]}"#, #"{"a":[{"prefix":"y"}]}"#),
        (#"{"a":[1]}"#, #"{"a":[1.0]}"#),
        (#"{"a":[{"exists":true}]}"#, #"{"a":[{"wildcard":"x*"}]}"#),
        (#"{"a":[{"exists":false}]}"#, #"{"a":[{"exists":false}],"b":[1]}"#),
        // No element has "b", so the one with "a" does not have it either.
        (#"{"a":{"a":[1],"b":[{"exists":false}]}}"#, #"{"a":{"a":[1],"b":[{"exists":false}]},"c":[1]}"#),
        (#"{"$or":[{"a":[1]},{"b":[1]}]}"#, #"{"b":[1],"c":[1]}"#),
        (#"{"$or":[{"a":[1]},{"b":[1]},{"c":[1]}]}"#, #"{"$or":[{"c":[1]},{"a":[1]}]}"#),
        (#"{"type":["t"]}"#, #"{"type":["t"],"a":[1]}"#),
    ])
    func coversAPatternThatRequiresAsMuchOrMore(_ wide: String, _ narrow: String) throws {
        #expect(try Self.covers(wide, narrow))
    }

    @Test(arguments: [
        (#"{"a":["x"]}"#, #"{}"#),
        (#"{"a":["x"]}"#, #"{"a":["x","y"]}"#),
        (#"{"a":{"b":[1]}}"#, #"{"a":[1]}"#),
        // [{"a":1},{"b":2}] has an element with "a" and without "b", but has a "b" elsewhere.
        (#"{"a":{"b":[{"exists":false}]}}"#, #"{"a":{"a":[1],"b":[{"exists":false}]}}"#),
        // The gateway's own events match the second only.
        (#"{"a":[1]}"#, #"{"a":[1],"type":["t"]}"#),
        (#"{"$or":[{"a":[1]},{"type":["t"]}]}"#, #"{"a":[1],"type":["u"]}"#),
        (#"{"$or":[{"a":[1]},{"b":[1]}]}"#, #"{"$or":[{"a":[1]},{"c":[1]}]}"#),
    ])
    func doesNotCoverAPatternThatMayMatchMore(_ wide: String, _ narrow: String) throws {
        #expect(try !Self.covers(wide, narrow))
    }

    @Test func stopsProvingWhenTheBudgetIsSpent() throws {
        var scope = PatternScope(budget: 10)
        let pattern = try PatternTests.pattern(#"{"a":["x"]}"#)
        var proofs = 0
        for _ in 0..<100 where scope.covers(pattern, pattern) { proofs += 1 }
        #expect((1..<10).contains(proofs))
    }

    /// A pattern matches every event that a pattern covered by it matches, alone and in a table.
    @Test(arguments: 0..<3)
    func coveringPatternMatchesEveryEventOfTheOther(_ round: Int) throws {
        let seed: UInt64 = 20_261_121 + UInt64(round)
        print("seed \(seed)")
        var random = RandomScope(seed: seed)
        var limits = JSONParser.Limits()
        limits.documents = 200
        let (parser, operationalParser) = (JSONParser(limits: limits), JSONParser())
        let texts = (0..<160).map { _ in random.event() }
        let events = try texts.map { try parser.parse(Array($0.utf8)) }
        var scope = PatternScope()
        var (proofs, takes) = (0, 0)
        try withExtendedLifetime(parser) {
            for _ in 0..<1_500 {
                let (wide, narrow) = random.pair()
                let patterns = try [wide, narrow].map { try PatternTests.pattern($0) }
                guard scope.covers(patterns[0], patterns[1]) else { continue }
                proofs += 1
                let table = RouteTable(
                    routes: patterns.enumerated().map { Route(name: String($0), match: $1, destinations: []) })
                for (event, text) in zip(events, texts) {
                    let operational = table.decideOperational(Array(text.utf8), with: operationalParser)
                    for routes in [try table.decide(event).routes, operational.routes] {
                        takes += routes.contains("1") ? 1 : 0
                        #expect(routes != ["1"], "seed \(seed): \(wide) does not take \(text), \(narrow) does")
                    }
                }
            }
        }
        // Proofs do happen, and events do match.
        #expect(proofs > 300, "\(proofs)")
        #expect(takes > 3_000, "\(takes)")
    }
}

/// Random pairs of patterns, one of which often requires less than the other, and events with arrays of objects. All
/// use the same few keys and values.
private struct RandomScope {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func one<Element>(of elements: [Element], or fallback: Element) -> Element {
        elements.randomElement(using: &random) ?? fallback
    }

    private static let keys = ["a", "b", "type"]

    // MARK: Events

    mutating func event() -> String { object(depth: 2) }

    private mutating func object(depth: Int) -> String {
        "{" + Self.keys.filter { _ in chance(60) }.map { "\"\($0)\":\(value(depth: depth))" }.joined(separator: ",")
            + "}"
    }

    private mutating func value(depth: Int) -> String {
        guard depth > 0, chance(65) else { return one(of: ["1", "2", "\"x\""], or: "1") }
        guard chance(65) else { return object(depth: depth - 1) }
        let elements = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            chance(85) ? object(depth: depth - 1) : value(depth: depth - 1)
        }
        return "[" + elements.joined(separator: ",") + "]"
    }

    // MARK: Patterns

    /// A pattern that is not written yet.
    private indirect enum Draft {
        case fields([(key: String, value: Draft)], alternatives: [Draft])
        case entries([String])

        var isEmpty: Bool {
            if case .fields(let fields, let alternatives) = self {
                fields.isEmpty && alternatives.isEmpty
            } else {
                false
            }
        }

        var text: String {
            switch self {
            case .entries(let entries): return "[" + entries.joined(separator: ",") + "]"
            case .fields(let fields, let alternatives):
                var members = fields.map { "\"\($0.key)\":\($0.value.text)" }
                if !alternatives.isEmpty {
                    members.append("\"$or\":[" + alternatives.map(\.text).joined(separator: ",") + "]")
                }
                return "{" + members.joined(separator: ",") + "}"
            }
        }
    }

    /// The wide one often requires less than the narrow one.
    mutating func pair() -> (wide: String, narrow: String) {
        let narrow = fields(depth: 2, keys: Self.keys)
        let wide = chance(85) ? wider(narrow) : fields(depth: 2, keys: Self.keys)
        return (wide.text, narrow.text)
    }

    private mutating func fields(depth: Int, keys: [String]) -> Draft {
        var keys = keys.shuffled(using: &random)
        var fields: [(String, Draft)] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let key = keys.popLast() else { break }
            fields.append((key, depth > 0 && chance(60) ? self.fields(depth: depth - 1, keys: Self.keys) : entries()))
        }
        // The alternatives have keys of their own, so that none requires a field twice.
        let alternatives =
            chance(30) && !keys.isEmpty ? (0..<2).map { _ in self.fields(depth: depth - 1, keys: keys) } : []
        return .fields(fields, alternatives: alternatives)
    }

    private mutating func entries() -> Draft {
        if chance(40) { return .entries(["{\"exists\":false}"]) }
        let all = ["1", "2", "\"x\"", "{\"exists\":true}", "{\"anything-but\":[\"x\"]}", "{\"numeric\":[\"<\",2]}"]
        return .entries((0..<Int.random(in: 1...2, using: &random)).map { _ in one(of: all, or: "1") })
    }

    /// Leaves out some fields, and allows more values.
    private mutating func wider(_ draft: Draft) -> Draft {
        switch draft {
        case .entries(let entries):
            return entries == ["{\"exists\":false}"] || chance(60) ? draft : .entries(entries + ["2"])
        case .fields(let fields, let alternatives):
            let kept = fields.filter { _ in chance(65) }.map { ($0.key, wider($0.value)) }.filter { !$0.1.isEmpty }
            let others = chance(80) ? alternatives : []
            return .fields(kept, alternatives: others)
        }
    }
}
