import SignalboxJSON
import SignalboxModel
import SignalboxRouting
import Testing

@Suite struct PatternBoundsTests {
    /// Where and what, of a pattern that is too large; nil for one that is taken.
    private func mistake(_ pattern: String) throws -> ConfigMistake? {
        do {
            _ = try PatternTests.pattern(pattern)
            return nil
        } catch let error as InvalidConfig {
            #expect(error.mistakes.count == 1)
            return error.mistakes.first
        }
    }

    private func list(_ count: Int, _ entry: (Int) -> String) -> String {
        (0..<count).map(entry).joined(separator: ",")
    }

    @Test func theWaysThroughOrAreMultipliedOutUpToAThousand() throws {
        let ors = { (count: Int) in
            list(3) { or in "\"f\(or)\":{\"$or\":[\(list(count) { "{\"k\($0)\":[1]}" })]}" }
        }
        #expect(try mistake("{\(ors(10))}") == nil)
        #expect(try mistake("{\(ors(11))}")?.pointer == "/routes/0/match/f2")
        #expect(try mistake("{\"$or\":[\(list(1_000) { "{\"k\($0)\":[1]}" })]}") == nil)
        let many = try mistake("{\"$or\":[\(list(1_001) { "{\"k\($0)\":[1]}" })]}")
        #expect(many?.pointer == "/routes/0/match/$or/1000")
        #expect(many?.message.contains("more than 1000") == true)
    }

    @Test func aFieldThatMayBeAbsentDoublesTheWays() throws {
        let fields = { (count: Int) in "{\(list(count) { "\"f\($0)\":[1,{\"exists\":false}]" })}" }
        #expect(try mistake(fields(9)) == nil)
        #expect(try mistake(fields(10))?.pointer == "/routes/0/match/f9")
    }

    @Test func aPatternAsksForAtMost256Fields() throws {
        #expect(try mistake("{\(list(256) { "\"f\($0)\":[1]" })}") == nil)
        let many = try mistake("{\(list(257) { "\"f\($0)\":[1]" })}")
        #expect(many?.pointer == "/routes/0/match")
        #expect(many?.message.contains("this one has 257") == true)
    }

    @Test func aPatternHasAtMost10000Entries() throws {
        #expect(try mistake("{\"a\":[\(list(10_000) { "\"\($0)\"" })]}") == nil)
        #expect(try mistake("{\"a\":[\(list(10_001) { "\"\($0)\"" })]}")?.pointer == "/routes/0/match")
        let multiplied = "{\"a\":[\(list(200) { "\($0)" })],\"$or\":[\(list(500) { "{\"k\($0)\":[1]}" })]}"
        #expect(try mistake(multiplied)?.message.contains("multiplied out") == true)
    }
}

/// What the index of texts without regard to case relies on.
@Suite struct CaseMappingTests {
    /// A pattern of each character meets exactly that character's mappings, alone and among others.
    @Test func everyCharacterIsFoundInEitherCase() throws {
        let scalars = (UInt32(0x80)...0x1_E943).compactMap { Unicode.Scalar($0) }.filter {
            $0.properties.lowercaseMapping != $0.properties.uppercaseMapping
        }
        #expect(scalars.count > 2_500)
        let patterns = try scalars.map { scalar in
            try Pattern(text: Array("{\"a\":[{\"equals-ignore-case\":\"x\(String(scalar))\"}]}".utf8))
        }
        let table = RouteTable(
            routes: patterns.enumerated().map { Route(name: String($0), match: $1, destinations: []) })
        let parser = JSONParser()
        for (place, scalar) in scalars.enumerated() {
            for text in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
                parser.reset()
                let event = try parser.parse(Array("{\"a\":\"X\(text)\"}".utf8))
                #expect(table.decide(event).routes.contains(String(place)), "\(scalar.value)")
                #expect(patterns[place].matches(event), "\(scalar.value)")
            }
        }
    }
}
