import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct FailureConfigTests {
    private func rules(_ text: String) throws -> [FailureRule] {
        try RoutedConfig(Array(#"{"failures": [\#(text)]}"#.utf8)).failures.map(\.rule)
    }

    @Test func readsEveryOption() throws {
        let read = try rules(
            """
            {"name": "dead", "source": "mobile", "platform": "apns", "run": "nightly-1", "token": ["ab", "sha256:cd"],
             "match": {"data": {"platform": ["apns"]}}, "every": 10, "first": 100, "after": 5,
             "answer": {"reason": "Unregistered", "timestamp": "2026-01-01T00:00:00Z", "retryAfter": "30s"},
             "delay": "2s", "connection": "goaway"}
            """)
        let rule = try #require(read.first)
        #expect(rule.name == "dead")
        #expect(rule.source == SourceName("mobile"))
        #expect(rule.platform == .apns)
        #expect(rule.run == "nightly-1")
        #expect(rule.tokens == ["ab", "sha256:cd"])
        #expect(rule.match != nil)
        #expect([rule.every, rule.first, rule.after] == [10, 100, 5])
        #expect(rule.answer?.reason == FailureReason.named("Unregistered"))
        #expect(rule.answer?.reason?.status == 410)
        #expect(rule.answer?.timestamp?.milliseconds == 1_767_225_600_000)
        #expect(rule.answer?.retryAfter == .seconds(30))
        #expect(rule.delay == .seconds(2))
        #expect(rule.connection == .goAway)
    }

    @Test func aReasonLimitsTheRuleToItsService() throws {
        let rules = try rules(
            #"{"name": "a", "answer": {"reason": "UNREGISTERED"}}, {"name": "b", "answer": {"status": 503}}"#)
        #expect(rules.map(\.service) == [.fcm, nil])
        #expect(
            PushService.allCases.map { rules[1].reason(for: $0)?.word } == [
                "ServiceUnavailable", "UNAVAILABLE", "SERVICE_UNAVAILABLE",
            ])
    }

    @Test(arguments: [
        (#"{"name": "a"}"#, "/failures/0: this rule has no effect"),
        (#"{"delay": "1s"}"#, "/failures/0: \"name\" is missing"),
        (#"{"name": "a b", "delay": "1s"}"#, "/failures/0/name: this is not a name"),
        (#"{"name": "a", "delay": "1s"}, {"name": "a", "delay": "1s"}"#, "/failures/1/name: there are two failure"),
        (#"{"name": "a", "delay": "61s"}"#, "/failures/0/delay: this must be a duration"),
        (#"{"name": "a", "delay": "1s", "every": 0}"#, "/failures/0/every: this must be a whole number"),
        (#"{"name": "a", "delay": "1s", "platform": "hms"}"#, "/failures/0/platform: this must be \"apns\""),
        (#"{"name": "a", "answer": {}}"#, "/failures/0/answer: an answer must have either"),
        (
            #"{"name": "a", "answer": {"reason": "Unregistred"}}"#,
            "/failures/0/answer/reason: there is no reason \"Unregistred\"; did you mean \"Unregistered\"?"
        ),
        (#"{"name": "a", "answer": {"reason": "Nonsense-1"}}"#, "known here: BadCollapseId"),
        (#"{"name": "a", "answer": {"status": 410}}"#, "/failures/0/answer/status: this must be 429, 500 or 503"),
        (
            #"{"name": "a", "answer": {"status": 503, "reason": "Shutdown"}}"#,
            "/failures/0/answer: an answer must have either"
        ),
        (
            #"{"name": "a", "answer": {"reason": "BadTopic", "timestamp": "2026-01-01T00:00:00Z"}}"#,
            "/failures/0/answer/timestamp: APNs sends a timestamp"
        ),
        (
            #"{"name": "a", "platform": "fcm", "answer": {"reason": "BadTopic"}}"#,
            "/failures/0/answer/reason: \"BadTopic\" is a reason of apns"
        ),
        (#"{"name": "a", "connection": "reset"}"#, "/failures/0/connection: this must be \"goaway\""),
        (#"{"name": "a", "delay": "1s", "match": {"data": 1}}"#, "/failures/0/match/data: "),
        (#"{"name": "a", "delay": "1s", "token": []}"#, "/failures/0/token: this must be one token"),
    ])
    func reportsMistakes(rules text: String, mistake: String) {
        let error = #expect(throws: InvalidConfig.self) { try rules(text) }
        let found = error?.mistakes.map { "\($0.pointer): \($0.message)" } ?? []
        #expect(found.contains { $0.contains(mistake) }, "\(found)")
    }

    /// The words of one status are in order: the first one is general.
    @Test func everyServiceHasAWordForEachGeneralStatus() {
        for service in PushService.allCases {
            for status in FailureReason.generalStatuses {
                #expect(FailureReason.general(status, of: service)?.status == status)
            }
            #expect(FailureReason.general(410, of: service) == nil)
        }
        #expect(Set(FailureReason.all.map(\.word)).count == FailureReason.all.count)
        // A message about an unknown word lists at most 60.
        #expect(FailureReason.all.count <= 60)
    }
}
