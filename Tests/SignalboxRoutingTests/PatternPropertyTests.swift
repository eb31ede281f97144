import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct PatternPropertyTests {
    private static let seed: UInt64 = 20_261_121

    /// Sets of 300 routes with events for each: the compiled set, each pattern by itself and the model agree.
    @Test(arguments: 0..<4)
    func randomRoutesMatchAsTheModelDoes(_ set: Int) throws {
        let seed = Self.seed + UInt64(set)
        var random = RandomPattern(seed: seed)
        let patterns = (0..<300).map { _ in random.pattern() }
        let events = (0..<80).map { _ in set == 3 ? random.eventWithRepeats() : random.event() }
        let matches = try compare(patterns, events, seed: seed)
        // Matches do happen, and do not always.
        #expect((500..<16_000).contains(matches), "\(matches)")
    }

    /// The same for patterns that require a value and fields below it at one path.
    @Test(arguments: 0..<6)
    func mixedRoutesMatchAsTheModelDoes(_ set: Int) throws {
        let seed = Self.seed + 100 + UInt64(set)
        var random = RandomPattern(seed: seed)
        let patterns = (0..<200).map { _ in random.mixedPattern() }
        let events = (0..<40).map { _ in random.mixedEvent() }
        let matches = try compare(patterns, events, seed: seed)
        #expect((40..<16_000).contains(matches), "\(matches)")
    }

    /// Numbers, ranges and address blocks that overlap, nest, touch and repeat.
    @Test func overlappingIntervalsMatchAsTheModelDoes() throws {
        let seed = Self.seed + 200
        var random = SeededGenerator(seed: seed)
        func number() -> Int { Int.random(in: -20...20, using: &random) }
        let patterns = (0..<400).map { position in
            let (low, high) = (number(), number())
            let entry = [
                "\(low)", "{\"numeric\":[\"<=\",\(low)]}", "{\"numeric\":[\">\",\(low)]}",
                "{\"numeric\":[\">=\",\(min(low, high)),\"<\",\(max(low, high) + 1)]}",
                "{\"cidr\":\"10.0.\(abs(low)).0/\(16 + abs(high) % 16)\"}",
                "{\"cidr\":\"::\(abs(low))/\(90 + abs(high))\"}",
                "\"10.0.\(abs(low)).\(abs(high))\"",
            ][position % 7]
            return "{\"v\":[\(entry)]}"
        }
        let events = (-22...22).flatMap { number in
            [
                "\(number)", "\(number).5", "\"10.0.\(abs(number)).7\"", "\"::\(abs(number))\"",
                "\"::ffff:a00:\(abs(number))\"",
            ]
        }.map { "{\"v\":\($0)}" }
        let matches = try compare(patterns, events, seed: seed)
        #expect(matches > 3_000, "\(matches)")
    }

    /// Matches all events with the compiled set, with each pattern by itself and with the model. Returns the matches.
    private func compare(_ texts: [String], _ events: [String], seed: UInt64) throws -> Int {
        print("seed \(seed)")
        let patterns = try texts.map { try PatternTests.pattern($0) }
        let table = RouteTable(
            routes: patterns.enumerated().map { Route(name: String($0), match: $1, destinations: []) })
        let kept = JSONParser(limits: Self.manyDocuments)
        let models = try texts.map { RulerModel(try kept.parse(Array($0.utf8))) }
        var matches = 0
        try withExtendedLifetime(kept) {
            for text in events {
                let parser = JSONParser()
                let event = try parser.parse(Array(text.utf8))
                let expected = models.indices.filter { models[$0].matches(event) }
                matches += expected.count
                let alone = try patterns.indices.filter { try patterns[$0].matches(event) }
                let different = Set(expected).symmetricDifference(alone).map { texts[$0] }
                #expect(alone == expected, "seed \(seed), \(text), \(different.prefix(3))")
                #expect(try table.decide(event).routes == expected.map { String($0) }, "seed \(seed), \(text)")
                let explained = try patterns.indices.filter { try patterns[$0].mismatch(in: event) == nil }
                #expect(explained == alone, "seed \(seed), \(text)")
            }
        }
        return matches
    }

    private static var manyDocuments: JSONParser.Limits {
        var limits = JSONParser.Limits()
        limits.documents = 1000
        return limits
    }

    /// Strings longer than the steps in which indexes read them, of few and of many lengths and first bytes.
    @Test(arguments: [(["a", "b"], [3, 9]), (["a", "b", "A"], Array(1...40)), (["a", "b", "c", "é"], [4, 17, 33])])
    func longStringsMatchAsEachAlone(_ alphabet: [String], _ lengths: [Int]) throws {
        print("seed \(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        func text(_ length: Int) -> String {
            (0..<length).map { _ in alphabet.randomElement(using: &random) ?? "" }.joined()
        }
        var pieces: [String] = []
        var patterns: [Pattern] = []
        for number in 0..<400 {
            let piece = "a" + text((lengths.randomElement(using: &random) ?? 1) - 1)
            pieces.append(piece)
            let entry = [
                "\"\(piece)\"", "{\"prefix\":\"\(piece)\"}", "{\"suffix\":\"\(piece)\"}",
                "{\"wildcard\":\"*\(piece)*\"}", "{\"equals-ignore-case\":\"\(piece)\"}",
                "{\"suffix\":{\"equals-ignore-case\":\"\(piece)\"}}", "{\"wildcard\":\"b*\(piece)*a\"}",
            ][number % 7]
            patterns.append(try PatternTests.pattern("{\"v\":[\(entry)]}"))
        }
        let table = RouteTable(
            routes: patterns.enumerated().map { Route(name: String($0), match: $1, destinations: []) })
        let parser = JSONParser()
        var matches = 0
        for number in 0..<240 {
            let piece = pieces[number]
            let value = [piece, piece.uppercased(), text(number % 40) + piece, "b" + text(5) + piece + text(30) + "a"][
                number % 4]
            parser.reset()
            let event = try parser.parse(Array("{\"v\":\"\(value)\"}".utf8))
            let expected = try patterns.indices.filter { try patterns[$0].matches(event) }
            matches += expected.count
            #expect(try table.decide(event).routes == expected.map { String($0) }, "seed \(Self.seed), \(value)")
        }
        #expect(matches > 240, "\(matches)")
    }

    @Test func mismatchIsFoundExactlyIfAPatternDoesNotMatch() throws {
        print("seed \(Self.seed)")
        var random = RandomPattern(seed: Self.seed)
        for _ in 0..<1_000 {
            let (pattern, text) = (random.pattern(), random.event())
            let parser = JSONParser()
            let event = try parser.parse(Array(text.utf8))
            let read = try PatternTests.pattern(pattern)
            let mismatch = try read.mismatch(in: event)
            #expect(try (mismatch == nil) == read.matches(event), "seed \(Self.seed), \(pattern), \(text)")
            guard let mismatch, let found = mismatch.found else { continue }
            let position = try #require(JSONPointer(mismatch.pointer)?.value(in: event))
            #expect(position.isSamePlace(as: found), "seed \(Self.seed), \(pattern), \(text)")
        }
    }
}
