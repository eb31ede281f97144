import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Failure rules of a running gateway, by its API and over reloads.
@Suite struct FailureRuleTests {
    private static let token = String(repeating: "0123456789abcdef", count: 4)

    private static func config(_ failures: String) -> String {
        """
        { "gateway": { "name": "test" }, "failures": [ \(failures) ],
          "destinations": { "inbox": { "builtin": "inbox" } },
          "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
        """
    }

    private func push(_ gateway: Gateway) async throws -> Reply {
        try await Reply(
            gateway.url + "/3/device/" + Self.token, "-H", "apns-topic: com.example.app", "-d",
            #"{"aps":{"alert":"Hello"}}"#)
    }

    private func text(_ reply: Reply) -> String { String(decoding: reply.body, as: UTF8.self) }

    @Test func rulesAreSetListedAndRemoved() async throws {
        try await withTemporaryDirectory { directory in
            let config = Self.config(#"{ "name": "slow", "delay": "1ms", "platform": "fcm" }"#)
            let gateway = try await Gateway.start(in: directory, config: config)
            let failures = gateway.url + "/v1/failures"
            let rule = #"{"token": "\#(Self.token)", "first": 1, "answer": {"reason": "Unregistered"}}"#
            let created = try await Reply(failures + "/dead", "-X", "PUT", "-d", rule)
            #expect(created.status == 201)
            #expect(text(created).contains(#""name":"dead","origin":"api","selected":0,"taken":0,"token":["sha256:"#))
            #expect(!text(created).contains(Self.token))
            #expect(try await push(gateway).status == 410)
            #expect(try await push(gateway).status == 200)
            let list = text(try await Reply(failures))
            #expect(list.contains(#""name":"dead","origin":"api","selected":2,"taken":1"#))
            #expect(list.contains(#""name":"slow","origin":"config","selected":0,"taken":0,"platform":"fcm""#))
            let metrics = text(try await Reply(gateway.url + "/metrics"))
            #expect(metrics.contains("signalbox_failure_rules_taken_total{rule=\"dead\"} 1\n"))
            #expect(try await Reply(failures + "/reset", "-X", "POST").status == 200)
            #expect(try await push(gateway).status == 410)
            #expect(try await Reply(failures + "/dead", "-X", "PUT", "-d", rule).status == 200)
            #expect(try await Reply(failures + "/dead", "-X", "DELETE").status == 200)
            #expect(try await push(gateway).status == 200)
            #expect(try await Reply(failures + "/slow", "-X", "DELETE").status == 404)
            #expect(await gateway.stop() == 0)
            // Two pushes were accepted.
            let audit = try await binary.run(["audit"], in: directory)
            #expect(
                audit.output.split(separator: "\n").first { $0.hasPrefix("inbox") }?.split(separator: " ")[1] == "2")
        }
    }

    @Test(arguments: [
        (#"{"answer": {"reason": "Unregistred"}}"#, "/answer/reason", "did you mean"),
        (#"{"delay": "1s", "match": {"data": 5}}"#, "/match/data", ""), ("{", "", "the body ends too early"),
        ("", "", "the body is empty"), (#"{"delay": "1s"} {}"#, "", "text after the end of the JSON value"),
        (#"{"name": "other", "delay": "1s"}"#, "/name", "the path names the rule"),
        ("{}", "", "this rule has no effect"),
    ])
    func aMistakeIsLocatedInTheBody(body: String, pointer: String, words: String) async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Self.config(""))
            let reply = try await Reply(gateway.url + "/v1/failures/a", "-X", "PUT", "-d", body)
            #expect(reply.status == 400)
            #expect(text(reply).contains(#""code":"failure-malformed""#))
            #expect(text(reply).contains(#""pointer":"\#(pointer)""#))
            #expect(words.isEmpty || text(reply).contains(words))
            #expect(text(try await Reply(gateway.url + "/v1/failures")) == #"{"failures":[]}"#)
            #expect(await gateway.stop() == 0)
        }
    }
}
