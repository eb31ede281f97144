import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

/// The counted work of matching one event.
@Suite struct MatchWorkTests {
    private func matcher(_ patterns: [String]) throws -> RouteMatcher {
        RouteMatcher(try patterns.map { try Pattern(text: Array($0.utf8)) })
    }

    /// The matching patterns, and the units of work spent.
    private func work(
        of patterns: [String], on event: String
    ) throws -> (matches: [Int], spent: Int) {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            var work = MatchWork()
            let matches = try matcher(patterns).matches(of: parser.parse(Array(event.utf8)), work: &work)
            return (matches, work.spent)
        }
    }

    private func event(_ text: String) -> String { "{\"v\":\"\(text)\"}" }

    private func wildcard(_ text: String) -> String { "{\"v\":[{\"wildcard\":\"\(text)\"}]}" }

    /// However often the text that leads to a rule occurs.
    @Test(arguments: [
        ("*a*1*", "a"), ("*ab*zz*", "ab"), ("*aa*aaa*b", "a"), ("*abab*abababc*", "ab"), ("*é*zé*", "é"),
    ])
    func searchesAWildcardInLinearTime(_ pattern: String, _ unit: String) throws {
        let bytes = 60_000
        let text = String(repeating: unit, count: bytes / unit.utf8.count)
        let (matches, spent) = try work(of: [wildcard(pattern)], on: event(text))
        #expect(matches.isEmpty)
        #expect(spent < 4 * bytes, "\(spent)")
    }

    @Test func evaluatesEachRuleOnceHoweverOftenItsTextOccurs() throws {
        let patterns = (0..<200).map { wildcard("*a*\($0)*b*") }
        let text = String(repeating: "a", count: 5_000) + (0..<200).map { "\($0)" }.joined(separator: "a")
        let bytes = text.utf8.count
        let (matches, spent) = try work(of: patterns, on: event(text))
        #expect(matches.isEmpty)
        #expect(spent < (patterns.count + 10) * bytes, "\(spent)")
    }

    /// 300 texts of different lengths, each contained in the next one.
    @Test func reportsTextsWithinOneAnotherOnce() throws {
        let patterns = (1...300).map { wildcard("*\(String(repeating: "a", count: $0))*z") }
        let text = String(repeating: "a", count: 20_000)
        let (matches, spent) = try work(of: patterns, on: event(text))
        #expect(matches.isEmpty)
        // Each rule compares only its end.
        #expect(spent < 20 * text.utf8.count, "\(spent)")
        let all = try work(of: (1...300).map { wildcard("*\(String(repeating: "a", count: $0))*") }, on: event(text))
        #expect(all.matches == Array(0..<300))
    }

    @Test func visitsAPostingListOnceForAnArray() throws {
        let patterns = (0..<500).map { "{\"v\":[{\"anything-but\":\"x\($0)\"}],\"n\":[\($0)]}" }
        let elements = (0..<5_000).map { "\"e\($0 % 100)\"" }.joined(separator: ",")
        let (matches, spent) = try work(of: patterns, on: "{\"n\":3,\"v\":[\(elements)]}")
        #expect(matches == [3])
        #expect(spent < 100_000, "\(spent)")
    }

    /// The table of keys hashes all bytes of a key, so keys with the same first bytes do not collide.
    @Test func findsAKeyAmongManyThatBeginAlike() throws {
        let patterns = (1000..<3000).map { "{\"attribute_of_a_campaign_\($0)_x\":[\($0)]}" }
        let members = (1000..<9000).map { "\"attribute_of_a_campaign_\($0)_x\":\($0)" }.joined(separator: ",")
        let (matches, spent) = try work(of: patterns, on: "{\(members)}")
        #expect(matches == Array(0..<2000))
        #expect(spent < 60_000, "\(spent)")
    }

    @Test func evaluatesEqualAlternativesOnce() throws {
        let pattern = "{\"$or\":[{\"v\":[\"a\"],\"w\":[1]},{\"v\":[\"b\"],\"w\":[2]}]}"
        let patterns = [String](repeating: pattern, count: 500) + ["{\"v\":[\"a\"],\"w\":[1]}"]
        let (matches, spent) = try work(of: patterns, on: "{\"v\":\"a\",\"w\":1}")
        #expect(matches == Array(0...500))
        #expect(spent < 100, "\(spent)")
    }

    @Test func foldsOnlyAsMuchTextAsAPatternCanMatch() throws {
        let patterns = [
            "{\"v\":[{\"equals-ignore-case\":\"straße\"}]}", "{\"v\":[{\"prefix\":{\"equals-ignore-case\":\"é\"}}]}",
            "{\"v\":[{\"suffix\":{\"equals-ignore-case\":\"ßß\"}}]}",
        ]
        let text = String(repeating: "É", count: 20_000) + "SSSS"
        #expect(try work(of: patterns, on: event(text)).matches == [1, 2])
        #expect(try work(of: patterns, on: event("STRASSE")).matches == [0])
        #expect(try work(of: patterns, on: event("xßSS")).matches == [2])
    }

    @Test func looksUpTheExclusionsOfAnythingBut() throws {
        let list = (0..<9_000).map { "\"x\($0)\"" }.joined(separator: ",")
        let patterns = (0..<50).map { "{\"v\":[{\"anything-but\":[\(list)]}],\"n\":[\($0)]}" }
        #expect(try work(of: patterns, on: "{\"v\":\"x8999\",\"n\":7}").matches.isEmpty)
        let (matches, spent) = try work(of: patterns, on: "{\"v\":\"y\",\"n\":7}")
        #expect(matches == [7])
        #expect(spent < 200, "\(spent)")
        let numbers = "{\"v\":[{\"anything-but\":[\((0..<9_000).map { "\($0)" }.joined(separator: ","))]}]}"
        #expect(try work(of: [numbers], on: "{\"v\":8999.0}").matches.isEmpty)
        #expect(try work(of: [numbers], on: "{\"v\":\"8999\"}").matches == [0])
    }

    /// With any limit, the result is either right or an error.
    @Test func failsInsteadOfDecidingWrongly() throws {
        let patterns = [
            wildcard("*a*b*"), "{\"v\":[{\"exists\":false}],\"w\":[1]}",
            "{\"l\":{\"k\":[{\"exists\":false}],\"m\":[2]}}",
            "{\"l\":{\"k\":[{\"anything-but\":\"x\"}]}}", "{\"w\":[{\"anything-but\":{\"wildcard\":\"*a*a*\"}}]}",
            "{\"w\":[{\"numeric\":[\">\",0]}]}",
        ]
        let matcher = try matcher(patterns)
        for text in [
            #"{"v":"aaab","w":1,"l":[{"k":"x","m":1},{"m":2},{"k":"y"}]}"#,
            #"{"w":[1,"aa"],"l":[[{"k":"z","m":2}],{"m":2}]}"#,
        ] {
            let parser = JSONParser()
            let event = try parser.parse(Array(text.utf8))
            var enough = MatchWork()
            let expected = try matcher.matches(of: event, work: &enough)
            #expect(!expected.isEmpty)
            for limit in 0...enough.spent {
                var work = MatchWork(limit: limit)
                if let matches = try? matcher.matches(of: event, work: &work) {
                    #expect(matches == expected, "limit \(limit)")
                } else {
                    #expect(limit < enough.spent)
                }
            }
            withExtendedLifetime(parser) {}
        }
    }

    @Test func everyDecisionFailsOverTheLimit() throws {
        let pattern = try Pattern(text: Array(wildcard("*a*b*").utf8))
        var table = RouteTable(routes: [Route(name: "r", match: pattern, destinations: [])])
        table.workLimit = 100
        let parser = JSONParser()
        let event = try parser.parse(Array(event(String(repeating: "a", count: 1_000)).utf8))
        #expect(throws: RoutingTooCostly()) { try table.decide(event) }
        #expect(throws: RoutingTooCostly()) {
            try table.decide(event, adding: [DestinationName("x")], hasPayload: false)
        }
        #expect(throws: RoutingTooCostly()) { try table.verdicts(on: event) }
        var work = MatchWork(limit: 100)
        #expect(throws: RoutingTooCostly()) { try pattern.matches(event, work: &work) }
        withExtendedLifetime(parser) {}
    }
}
