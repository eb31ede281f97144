import SignalboxConfig
import SignalboxGateway
import SignalboxRouting
import Testing

@Suite struct FailureDeciderTests {
    private static let hash = TokenHash(key: [UInt8](repeating: 7, count: 32))

    private func rule(_ name: String, _ more: String = "") throws -> PreparedFailure {
        let text = #"{"answer": {"status": 503}\#(more.isEmpty ? "" : ", " + more)}"#
        return PreparedFailure(try FailureSelector(text: Array(text.utf8), named: name), hashedBy: Self.hash)
    }

    private func decider(_ rules: PreparedFailure...) -> FailureDecider {
        var decider = FailureDecider()
        decider.replaceFile(by: rules)
        return decider
    }

    /// The names of the rules that apply to `count` pushes, each of which every rule selects.
    private func names(_ count: Int, by decider: inout FailureDecider) -> [String?] {
        (0..<count).map { _ in decider.decide(decider.entries.map(\.id))?.name }
    }

    @Test func everyTenthOfAThousandIsTakenAndAgainAfterAReset() throws {
        var decider = decider(try rule("tenth", #""every": 10"#))
        let first = names(1000, by: &decider)
        #expect(first.indices.filter { first[$0] != nil } == Array(stride(from: 9, to: 1000, by: 10)))
        #expect(decider.entries.map(\.selected) == [1000])
        #expect(decider.entries.map(\.taken) == [100])
        decider.reset()
        let second = names(1000, by: &decider)
        #expect(second == first)
    }

    @Test(arguments: [
        (#""first": 2"#, [1, 2]), (#""after": 3"#, [4, 5, 6, 7, 8]), (#""after": 2, "first": 2"#, [3, 4]),
        (#""every": 3"#, [3, 6]), (#""after": 1, "every": 3"#, [4, 7]), (#""every": 2, "first": 5"#, [2, 4]),
        ("", [1, 2, 3, 4, 5, 6, 7, 8]),
    ])
    func countsSelectedPushes(options: String, taken: [Int]) throws {
        var decider = decider(try rule("a", options))
        let names = names(8, by: &decider)
        #expect((1...8).filter { names[$0 - 1] != nil } == taken)
    }

    @Test func theFirstRuleWhoseTurnItIsTakesAPush() throws {
        var decider = decider(try rule("second", #""every": 2"#), try rule("once", #""first": 1"#))
        let taken = names(4, by: &decider)
        #expect(taken == ["once", "second", nil, "second"])
        // A taken push does not count for later rules.
        #expect(decider.entries.map(\.selected) == [4, 2])
    }

    @Test func aReloadKeepsTheCountersOfEqualRules() throws {
        var decider = decider(try rule("kept", #""first": 2"#), try rule("changed", #""first": 2"#))
        _ = names(1, by: &decider)
        decider.replaceFile(by: [try rule("changed", #""first": 3"#), try rule("kept", #""first": 2"#)])
        #expect(decider.entries.map(\.rule.name) == ["changed", "kept"])
        #expect(decider.entries.map(\.selected) == [0, 1])
    }

    @Test func rulesOfTheAPIComeFirstAndReplaceThoseOfTheirName() throws {
        var decider = decider(try rule("a"), try rule("b"))
        var added = [decider.put(try rule("c"))]
        added.append(decider.put(try rule("a", #""first": 1"#)))
        added.append(decider.put(try rule("a", #""first": 2"#)))
        #expect(added == [true, true, false])
        #expect(decider.entries.map(\.rule.name) == ["c", "a", "b"])
        #expect(decider.entries.map(\.isFromAPI) == [true, true, false])
        #expect(decider.entries[1].rule.first == 2)
        let removed = [decider.remove("a"), decider.remove("b")]
        #expect(removed == [true, false])
        #expect(decider.entries.map(\.rule.name) == ["c", "a", "b"])
        #expect(decider.entries[1].rule.first == nil)
    }

    @Test func theAPIHasABound() throws {
        var decider = FailureDecider()
        var added = 0
        for number in 0..<FailureRule.most where decider.put(try rule("r\(number)")) == true { added += 1 }
        #expect(added == FailureRule.most)
        let more = decider.put(try rule("more"))
        #expect(more == nil)
        let replaced = decider.put(try rule("r1", #""first": 1"#))
        #expect(replaced == false)
    }

    @Test func idsOfFormerRulesHaveNoEffect() throws {
        var decider = decider(try rule("a"))
        let former = decider.entries.map(\.id)
        decider.replaceFile(by: [try rule("a", #""first": 9"#)])
        let taken = decider.decide(former)
        #expect(taken == nil)
        #expect(decider.entries.map(\.selected) == [0])
    }

    @Test func hexadecimalTokensAreHashedInBothCases() throws {
        let rule = try rule("a", #""token": ["AB12", "Zz", "sha256:00"]"#)
        let expected = ["AB12", "ab12", "Zz"].map { Self.hash.name(of: Array($0.utf8)) } + ["sha256:00"]
        #expect(rule.tokens == Set(expected))
    }
}
