import SignalboxInApp
import Testing

@Suite struct SoursePairTests {
    private func pair(_ condition: String, title: String = "T", body: String = "B") -> Message.Pair? {
        SoursePair.pair(condition: condition, title: title, body: body)
    }

    @Test func keyIgnoresSpacesQuotesAndOrder() throws {
        let key = try #require(pair("'b' in topics && 'a' in topics && 'sourse_sdk_integrated' in topics")).key
        for condition in [
            #"'sourse_sdk_integrated'in topics&&"a" in topics&&'b'in topics"#,
            "'a' in topics\t&&\n'b' in topics && !( 'sourse_sdk_integrated' in topics )",
            "&& 'a' in topics && && 'b' in topics && 'sourse_sdk_integrated' in topics && 'sourse_sdk_integrated' in topics",
        ] {
            #expect(pair(condition)?.key == key, "\(condition)")
        }
    }

    @Test func keyDependsOnTheTextsAndTheCondition() {
        let marker = "'sourse_sdk_integrated' in topics"
        let keys = [
            pair(marker), pair(marker, title: "TB", body: ""), pair(marker, title: "t"), pair(marker, body: "b"),
            pair("'a' in topics && \(marker)"), pair("('a' in topics || 'b' in topics) && \(marker)"),
        ].map { $0?.key }
        #expect(Set(keys).count == keys.count && !keys.contains(nil))
    }

    /// Stored messages have this key.
    @Test func keyIsStable() {
        let condition = "'news' in topics && !('isdk_sdk_integrated' in topics)"
        let expected = Message.Pair(key: "4c070b0c6320feb4", role: .plain, marker: "isdk_sdk_integrated")
        #expect(pair(condition) == expected)
    }

    @Test(arguments: [
        "", "&", "&&", "'news' in topics", "'sourse_sdk_integrated'",
        "'sourse_sdk_integrated' in topics || 'a' in topics",
        "('sourse_sdk_integrated' in topics)", "!'sourse_sdk_integrated' in topics & 'a' in topics",
    ])
    func aConditionWithoutAMarkersClauseHasNoPair(_ condition: String) {
        #expect(pair(condition) == nil)
    }
}
