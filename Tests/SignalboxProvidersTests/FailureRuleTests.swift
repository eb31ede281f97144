import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxRouting
import Synchronization
import Testing

@testable import SignalboxServer

/// Failure rules at the provider endpoints.
@Suite struct FailureRuleTests {
    private static func rules(_ text: String) -> String { #"{"failures": [\#(text)]}"# }

    // MARK: APNs

    @Test func aDeadTokenIsUnregisteredAndMakesNoEvent() async throws {
        let token = APNsBench.token.uppercased()
        let rule = """
            {"name": "dead", "token": "\(token)",
             "answer": {"reason": "Unregistered", "timestamp": "2026-01-01T00:00:00.5Z"}}
            """
        try await APNsBench.run(Self.rules(rule)) { bench async throws in
            let reply = try await bench.push([("apns-id", "123E4567-E89B-12D3-A456-426614174000")])
            #expect(reply.status == 410)
            #expect(
                String(decoding: reply.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1767225600500}"#)
            #expect(reply.header("apns-id") == "123E4567-E89B-12D3-A456-426614174000")
            let other = try await bench.push(path: "/3/device/" + String(repeating: "ff", count: 32))
            #expect(other.status == 200)
            try await bench.withEvents { #expect($0.count == 1) }
            #expect(bench.rules.entries.map(\.taken) == [1])
        }
    }

    @Test func a410WithoutATimestampHasTheTimeOfTheAnswer() async throws {
        try await APNsBench.run(Self.rules(#"{"name": "a", "answer": {"reason": "ExpiredToken"}}"#)) {
            bench async throws in
            let time = Int64(ProviderTokens.now.timeIntervalSince1970 * 1000)
            let text = String(decoding: try await bench.push().body, as: UTF8.self)
            #expect(text == #"{"reason":"ExpiredToken","timestamp":\#(time)}"#)
        }
    }

    @Test func everyTenthOfAThousandPushesIsRefused() async throws {
        let rule = #"{"name": "tenth", "every": 10, "answer": {"status": 429, "retryAfter": "1500ms"}}"#
        try await APNsBench.run(Self.rules(rule)) { bench async throws in
            for _ in 0..<2 {
                var refused: [Int] = []
                for number in 1...100 {
                    let reply = try await bench.push()
                    guard reply.status != 200 else { continue }
                    refused.append(number)
                    #expect(reply.summary == "429 TooManyRequests")
                    #expect(reply.header("retry-after") == "2")
                }
                #expect(refused == Array(stride(from: 10, through: 100, by: 10)))
                bench.rules.reset()
            }
            try await bench.withEvents { #expect($0.count == 180) }
        }
    }

    /// Also for pushes whose `apns-id` repeats, which make no second event.
    @Test func theSameSequenceHasTheSameAnswersAfterAResetAndARestart() async throws {
        let rules = Self.rules(
            """
            {"name": "first", "token": "\(APNsBench.token)", "after": 3, "first": 2, "answer": {"reason": "Unregistered",
             "timestamp": "2026-01-01T00:00:00Z"}},
            {"name": "goals", "every": 3, "match": {"data": {"content": {"body": [{"prefix": "Goal"}]}}},
             "answer": {"status": 503}},
            {"name": "tenth", "every": 10, "answer": {"status": 429, "retryAfter": "1s"}}
            """)
        func answers(_ bench: APNsBench) async throws -> [String] {
            var answers: [String] = []
            for number in 0..<60 {
                let token = number % 4 == 0 ? APNsBench.token : String(repeating: "ab", count: 32)
                let text = number % 3 == 0 ? "Goal \(number)" : "Foul \(number)"
                let id = "123e4567-e89b-12d3-a456-4266141740\(10 + number)"
                let reply = try await bench.push(
                    [("apns-id", id)], path: "/3/device/" + token, body: #"{"aps":{"alert":"\#(text)"}}"#)
                answers.append(reply.summary)
            }
            return answers
        }
        var runs: [[String]] = []
        for _ in 0..<2 {
            try await APNsBench.run(rules) { bench async throws in
                runs.append(try await answers(bench))
                bench.rules.reset()
                runs.append(try await answers(bench))
            }
        }
        #expect(runs.count == 4 && Set(runs).count == 1)
        #expect(Set(runs[0]).count == 4, "Each rule answers some of the pushes.")
    }

    @Test func aPatternSelectsByTheEvent() async throws {
        let rule = """
            {"name": "goal", "match": {"data": {"content": {"body": [{"prefix": "Goal"}]}}}, "platform": "apns",
             "source": "default", "answer": {"status": 500}}
            """
        try await APNsBench.run(Self.rules(rule)) { bench async throws in
            #expect(try await bench.push(body: #"{"aps":{"alert":"Goal!"}}"#).summary == "500 InternalServerError")
            #expect(try await bench.push(body: #"{"aps":{"alert":"Pause"}}"#).status == 200)
            #expect(try await bench.push(body: "nonsense").status == 400)
        }
    }

    @Test func theHashOfAnEventSelectsItsToken() async throws {
        try await APNsBench.run { bench async throws in
            _ = try await bench.push()
            var name = ""
            try await bench.withEvents { name = $0.first?["data"]?["target"]?["token"]?.string ?? "" }
            let text = #"{"token": "\#(name)", "answer": {"reason": "Unregistered"}}"#
            let hash = TokenHash(key: [UInt8](repeating: 7, count: 32))
            let rule = PreparedFailure(try FailureSelector(text: Array(text.utf8), named: "dead"), hashedBy: hash)
            #expect(bench.rules.put(rule) == true)
            #expect(try await bench.push().status == 410)
            #expect(bench.rules.remove("dead"))
            #expect(try await bench.push().status == 200)
        }
    }

    // MARK: Connections and delays

    @Test(arguments: [
        (#""connection": "goaway""#, ProviderReply.After.goAway(debugData: Array(#"{"reason":"Shutdown"}"#.utf8))),
        (
            #""connection": "goaway", "answer": {"reason": "BadCertificateEnvironment"}"#,
            ProviderReply.After.goAway(debugData: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8))
        ), (#""connection": "one-stream""#, ProviderReply.After.oneStream),
        (#""connection": "cut""#, ProviderReply.After.cut),
    ])
    func aRuleEndsTheConnection(effect: String, after: ProviderReply.After) async throws {
        try await APNsBench.run(Self.rules(#"{"name": "a", "every": 2, \#(effect)}"#)) { bench async throws in
            #expect(try await bench.push().after == .keep)
            #expect(try await bench.push().after == after)
        }
    }

    @Test func aDelayHoldsTheAnswerAndNotTheEvent() async throws {
        let timer = TestTimer()
        let held = HeldReplies(most: 1) { timer.append($0, $1) }
        try await APNsBench.run(Self.rules(#"{"name": "slow", "delay": "2s"}"#), held: held) { bench async throws in
            let statuses = AsyncStream.makeStream(of: Int.self)
            let request = APNsBench.request("POST", APNsBench.path, [APNsBench.topic])
            guard case .body(let body)? = bench.endpoint.verdict(on: request) else {
                Issue.record("The push was refused.")
                return
            }
            body.handle(Array(APNsBench.payload.utf8)) { statuses.continuation.yield($0.status) }
            while timer.isEmpty { await Task.yield() }
            try await bench.withEvents { #expect($0.count == 1) }
            // A second answer exceeds the bound of held ones, and its push is not accepted.
            #expect(try await bench.push().summary == "503 ServiceUnavailable")
            try await bench.withEvents { #expect($0.count == 1) }
            let (delay, send) = try #require(timer.popLast())
            #expect(delay == .seconds(2))
            send()
            var iterator = statuses.stream.makeAsyncIterator()
            #expect(await iterator.next() == 200)
        }
    }

    // MARK: FCM and Expo

    private static let fcm = "/v1/projects/demo/messages:send"

    @Test(arguments: [
        ("UNREGISTERED", 404, "NOT_FOUND"), ("INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"),
        ("SENDER_ID_MISMATCH", 403, "PERMISSION_DENIED"), ("QUOTA_EXCEEDED", 429, "RESOURCE_EXHAUSTED"),
        ("THIRD_PARTY_AUTH_ERROR", 401, "UNAUTHENTICATED"), ("INTERNAL", 500, "INTERNAL"),
        ("UNAVAILABLE", 503, "UNAVAILABLE"),
    ])
    func errorCodesHaveGooglesStatuses(code: String, status: Int, word: String) async throws {
        let rule = #"{"name": "a", "token": "dead", "answer": {"reason": "\#(code)", "retryAfter": "3s"}}"#
        try await GoogleBench.run(Self.rules(rule)) { bench in
            let reply = try await bench.post(Self.fcm, #"{"message":{"token":"dead"}}"#)
            #expect(reply.status == status)
            #expect(reply.string("/error/status") == word)
            #expect(reply.string("/error/details/0/errorCode") == code)
            #expect(reply.headers.contains(.init(name: "retry-after", value: "3")))
            #expect(try await bench.post(Self.fcm, #"{"message":{"token":"alive"}}"#).status == 200)
            // The rule ignores a message that is only checked.
            let dryRun = try await bench.post(Self.fcm, #"{"validate_only":true,"message":{"token":"dead"}}"#)
            #expect(dryRun.status == 200)
            #expect(try await bench.events().count == 1)
        }
    }

    @Test func twoFailuresThenSuccessMakeOneEvent() async throws {
        try await GoogleBench.run(Self.rules(#"{"name": "a", "first": 2, "answer": {"status": 503}}"#)) { bench in
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await bench.post(Self.fcm, #"{"message":{"topic":"x"}}"#).status) }
            #expect(statuses == [503, 503, 200])
            #expect(try await bench.events().count == 1)
        }
    }

    @Test func theLegacyProtocolHasItsOwnWords() async throws {
        let rule = #"{"name": "a", "token": "dead", "answer": {"reason": "UNREGISTERED"}}"#
        try await GoogleBench.run(Self.rules(rule)) { bench in
            let reply = try await bench.post(
                "/fcm/send", #"{"registration_ids":["a","dead","c"],"data":{"n":"1"}}"#,
                ("content-type", "application/json"))
            #expect(reply.string("/results/1/error") == "NotRegistered")
            #expect(reply.text.contains("\"success\":2,\"failure\":1"))
            #expect(try await bench.events().count == 2)
        }
    }

    @Test func aLegacyAnswerHasTheLongestWaitOfItsFailures() async throws {
        let rules = """
            {"name": "a", "token": "a", "answer": {"reason": "UNAVAILABLE", "retryAfter": "7s"}},
            {"name": "b", "token": "b", "answer": {"status": 429, "retryAfter": "3s"}}
            """
        try await GoogleBench.run(Self.rules(rules)) { bench async throws in
            func waits(_ body: String) async throws -> [String] {
                let reply = try await bench.post("/fcm/send", body, ("content-type", "application/json"))
                #expect(reply.status == 200)
                return reply.headers.filter { $0.name == "retry-after" }.map(\.value)
            }
            #expect(try await waits(#"{"registration_ids":["b","a","c"]}"#) == ["7"])
            #expect(try await waits(#"{"to":"b"}"#) == ["3"])
            #expect(try await waits(#"{"to":"c"}"#) == [])
        }
    }

    @Test func aTicketOrTheWholeRequestFails() async throws {
        let rules = """
            {"name": "dead", "token": "ExpoPushToken[dead]", "answer": {"reason": "DeviceNotRegistered"}},
            {"name": "down", "token": "ExpoPushToken[down]", "answer": {"status": 503, "retryAfter": "7s"}}
            """
        try await GoogleBench.run(Self.rules(rules)) { bench in
            let path = "/--/api/v2/push/send"
            let one = try await bench.post(path, #"{"to":["ExpoPushToken[a]","ExpoPushToken[dead]"],"body":"x"}"#)
            #expect(one.status == 200)
            #expect(one.string("/data/0/status") == "ok")
            #expect(one.string("/data/1/details/error") == "DeviceNotRegistered")
            let message = #""ExpoPushToken[dead]" is not a registered push notification recipient"#
            #expect(one.string("/data/1/message") == message)
            let all = try await bench.post(path, #"{"to":["ExpoPushToken[a]","ExpoPushToken[down]"],"body":"x"}"#)
            #expect(all.status == 503)
            #expect(all.string("/errors/0/code") == "SERVICE_UNAVAILABLE")
            #expect(all.headers.contains(.init(name: "retry-after", value: "7")))
            #expect(try await bench.events().count == 1)
        }
    }
}

/// Collects calls with their delays instead of waiting.
private final class TestTimer: Sendable {
    // A class because the endpoint and the test share it.
    private let waiting = Mutex<[(Duration, @Sendable () -> Void)]>([])

    var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

    func append(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append((delay, body)) }
    }

    func popLast() -> (Duration, @Sendable () -> Void)? { waiting.withLock { $0.popLast() } }
}
