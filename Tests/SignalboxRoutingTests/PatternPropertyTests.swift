import SignalboxJSON
import SignalboxModel
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct PatternPropertyTests {
    private static let seed: UInt64 = 20_261_121

    /// Sets of 300 routes with events for each: the compiled set, each pattern by itself and the model agree.
    @Test(arguments: 0..<4)
    func hundredsOfRandomRoutesDecideAsTheModelDoesOneByOne(_ set: Int) throws {
        let seed = Self.seed + UInt64(set)
        print("seed \(seed)")
        var random = RandomPattern(seed: seed)
        let texts = (0..<300).map { _ in random.pattern() }
        let patterns = try texts.map { try PatternTests.pattern($0) }
        let table = RouteTable(
            routes: patterns.enumerated().map { Route(name: String($0), match: $1, destinations: []) })
        let kept = JSONParser(limits: Self.manyDocuments)
        let models = try texts.map { RulerModel(try kept.parse(Array($0.utf8))) }
        var matches = 0
        try withExtendedLifetime(kept) {
            for _ in 0..<150 {
                let text = set == 3 ? random.eventWithRepeats() : random.event()
                let parser = JSONParser()
                let event = try parser.parse(Array(text.utf8))
                let expected = models.indices.filter { models[$0].matches(event) }
                matches += expected.count
                let alone = patterns.indices.filter { patterns[$0].matches(event) }
                let different = Set(expected).symmetricDifference(alone).map { texts[$0] }
                #expect(alone == expected, "seed \(seed), \(text), \(different.prefix(3))")
                #expect(table.decide(event).routes == expected.map { String($0) }, "seed \(seed), \(text)")
            }
        }
        // Matches do happen, and do not always.
        #expect((1_000..<30_000).contains(matches), "\(matches)")
    }

    private static var manyDocuments: JSONParser.Limits {
        var limits = JSONParser.Limits()
        limits.documents = 1000
        return limits
    }

    @Test func aMismatchIsFoundExactlyWhereAPatternDoesNotMatch() throws {
        print("seed \(Self.seed)")
        var random = RandomPattern(seed: Self.seed)
        for _ in 0..<2_000 {
            let (pattern, text) = (random.pattern(), random.event())
            let parser = JSONParser()
            let event = try parser.parse(Array(text.utf8))
            let read = try PatternTests.pattern(pattern)
            let mismatch = read.mismatch(in: event)
            #expect((mismatch == nil) == read.matches(event), "seed \(Self.seed), \(pattern), \(text)")
            guard let mismatch, let found = mismatch.found else { continue }
            let place = try #require(JSONPointer(mismatch.pointer)?.value(in: event))
            #expect(place.isSamePlace(as: found), "seed \(Self.seed), \(pattern), \(text)")
        }
    }
}
