import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct PatternBoundsTests {
    /// The only mistake of a pattern that is too large; nil for a valid one.
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

    @Test func multipliesOrOutToAThousandAlternatives() throws {
        let ors = { (count: Int) in
            list(3) { or in "\"f\(or)\":{\"$or\":[\(list(count) { "{\"k\($0)\":[1]}" })]}" }
        }
        #expect(try mistake("{\(ors(10))}") == nil)
        #expect(try mistake("{\(ors(11))}")?.pointer == "/routes/0/match/f2")
        #expect(try mistake("{\"$or\":[\(list(1_000) { "{\"k\($0)\":[1]}" })]}") == nil)
        let many = try mistake("{\"$or\":[\(list(1_001) { "{\"k\($0)\":[1]}" })]}")
        #expect(many?.pointer == "/routes/0/match/$or/1000")
        #expect(many?.message.contains("more combinations than 1000") == true)
    }

    @Test func fieldThatMayBeAbsentDoublesTheAlternatives() throws {
        let fields = { (count: Int) in "{\(list(count) { "\"f\($0)\":[1,{\"exists\":false}]" })}" }
        #expect(try mistake(fields(9)) == nil)
        #expect(try mistake(fields(10))?.pointer == "/routes/0/match/f9")
    }

    @Test func rejectsThe257thFieldAtItsPosition() throws {
        #expect(try mistake("{\(list(256) { "\"f\($0)\":[1]" })}") == nil)
        let many = try mistake("{\(list(40_000) { "\"f\($0)\":[1]" })}")
        #expect(many?.pointer == "/routes/0/match/f256")
        #expect(many?.message.contains("at most 256 fields") == true)
    }

    @Test func rejectsThe10001stEntryAtItsPosition() throws {
        #expect(try mistake("{\"a\":[\(list(10_000) { "\"\($0)\"" })]}") == nil)
        #expect(try mistake("{\"a\":[\(list(40_000) { "\"\($0)\"" })]}")?.pointer == "/routes/0/match/a/10000")
        let multiplied = "{\"a\":[\(list(200) { "\($0)" })],\"$or\":[\(list(500) { "{\"k\($0)\":[1]}" })]}"
        #expect(try mistake(multiplied)?.message.contains("multiplied out") == true)
    }

    @Test func countsTheEntriesOfAnythingBut() throws {
        let excluding = { (count: Int) in "{\"a\":[{\"anything-but\":[\(self.list(count) { "\"\($0)\"" })]}]}" }
        #expect(try mistake(excluding(10_000)) == nil)
        #expect(try mistake(excluding(10_001))?.pointer == "/routes/0/match/a/0")
        let comparing = { (count: Int) in
            "{\"a\":[{\"anything-but\":{\"prefix\":[\(self.list(count) { "\"\($0)\"" })]}}]}"
        }
        #expect(try mistake(comparing(256)) == nil)
        #expect(try mistake(comparing(257))?.pointer == "/routes/0/match/a/0/anything-but/prefix")
    }

    @Test(arguments: [
        "\"X\"", "{\"prefix\":\"X\"}", "{\"suffix\":{\"equals-ignore-case\":\"X\"}}", "{\"equals-ignore-case\":\"X\"}",
        "{\"wildcard\":\"X\"}", "{\"anything-but\":[\"X\"]}", "{\"anything-but\":{\"wildcard\":\"X\"}}",
    ])
    func rejectsTextsOfMoreThan8192Bytes(_ entry: String) throws {
        let pattern = { (count: Int) in
            "{\"a\":[\(entry.replacing("X", with: String(repeating: "x", count: count)))]}"
        }
        #expect(try mistake(pattern(8_192)) == nil)
        let long = try mistake(pattern(8_193))
        #expect(long?.pointer == "/routes/0/match/a/0")
        #expect(long?.message.contains("more than 8192 bytes") == true)
    }

    @Test func rejectsNamesOfMoreThan1024Bytes() throws {
        let pattern = { (count: Int) in "{\"\(String(repeating: "k", count: count))\":[1]}" }
        #expect(try mistake(pattern(1_024)) == nil)
        #expect(try mistake(pattern(1_025))?.message.contains("more than 1024 bytes") == true)
    }

    @Test func boundsTheWildcardsOfAllRoutesTogether() throws {
        let texts = (0..<130).map { "\"*\(String(repeating: "ab", count: 4_060))\($0)*\"" }
        let mistake = try mistake("{\"a\":[\(texts.map { "{\"wildcard\":\($0)}" }.joined(separator: ","))]}")
        #expect(mistake?.message.contains("more than 1 MiB in all") == true)
    }

    @Test func boundsThePatternsOfAllRoutesTogether() throws {
        let pattern = "{\"a\":[\(list(90) { "\($0)" })],\"$or\":[\(list(1_000) { "{\"k\($0)\":[1]}" })]}"
        let routes = list(11) { "{\"name\":\"r\($0)\",\"to\":[\"i\"],\"match\":\(pattern)}" }
        let config = "{\"destinations\":{\"i\":{\"builtin\":\"inbox\"}},\"routes\":[\(routes)]}"
        let error = #expect(throws: InvalidConfig.self) { try RoutedConfig(Array(config.utf8)) }
        #expect(error?.mistakes.first?.message.contains("more than 1000000 entries") == true)
    }

    @Test func rejectsAnObjectAndAValueUnderTheSameKey() throws {
        #expect(try mistake(#"{"a":{"b":[1]},"a":["x"]}"#)?.message.contains("is listed twice") == true)
        #expect(try mistake(#"{"a":["x"],"a":{"b":[1]}}"#)?.message.contains("is listed twice") == true)
    }
}

/// The index of strings that ignore case relies on this.
@Suite struct CaseMappingTests {
    /// A pattern of each character matches that character's mappings, alone and in a table.
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
        for (position, scalar) in scalars.enumerated() {
            for text in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
                parser.reset()
                let event = try parser.parse(Array("{\"a\":\"X\(text)\"}".utf8))
                #expect(try table.decide(event).routes.contains(String(position)), "\(scalar.value)")
                #expect(try patterns[position].matches(event), "\(scalar.value)")
            }
        }
    }
}
