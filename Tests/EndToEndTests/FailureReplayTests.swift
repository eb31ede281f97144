import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Failure rules in `replay` and `explain`, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct FailureReplayTests {
    private static let rules = """
        "failures": [ { "name": "dead", "match": { "data": { "content": { "body": ["n7"] } } },
            "answer": { "reason": "Unregistered" } },
          { "name": "google", "answer": { "reason": "UNAVAILABLE" } },
          { "name": "tenth", "every": 10, "answer": { "status": 429 } },
          { "name": "slow", "first": 3, "delay": "2s" } ],
        """

    /// Payloads with their number as text, one a line.
    private static func recording(_ count: Int) -> Data {
        Data((1...count).map { #"{"aps":{"alert":{"title":"x","body":"n\#($0)"}}}"# + "\n" }.joined().utf8)
    }

    private func write(_ config: String, _ count: Int, in directory: String) throws {
        try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
        try Self.recording(count).write(to: URL(fileURLWithPath: directory + "/input"))
    }

    private func replay(_ arguments: [String], in directory: String) async throws -> BuiltBinary.Result {
        try await binary.run(
            ["replay", "--failures", "input"] + arguments, in: directory,
            environment: ["WEBHOOK_SECRET": Gateway.secret])
    }

    /// The lines and messages of a file of rejections.
    private func rejects(_ path: String) throws -> [(line: Int, message: String)] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { text in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(object["code"] as? String == "failure-rule")
            return (try #require(object["line"] as? Int), try #require(object["message"] as? String))
        }
    }

    /// The answers to payload 7 and, because a taken push does not count for later rules, to each tenth other one.
    private static func expected(_ count: Int) -> [Int] {
        var (lines, others) = ([Int](), 0)
        for line in 1...count {
            if line == 7 {
                lines.append(line)
                continue
            }
            others += 1
            if others.isMultiple(of: 10) { lines.append(line) }
        }
        return lines
    }

    @Test func aDryRunHasTheSameFailuresEachTime() async throws {
        try await withTemporaryDirectory { directory in
            try write(Gateway.config(to: "http://127.0.0.1:1/", more: Self.rules), 1001, in: directory)
            var all: [[Int]] = []
            for name in ["first", "second"] {
                let result = try await replay(["--dry-run", "--rejects", name], in: directory)
                #expect(result.status == 1)
                #expect(result.output.split(separator: "\n").count == 900)
                #expect(result.errors.contains("failure rule dead: took 1 of 1 selected\n"))
                #expect(result.errors.contains("failure rule google: took 0 of 0 selected\n"))
                #expect(result.errors.contains("failure rule tenth: took 100 of 1000 selected\n"))
                #expect(result.errors.contains("failure rule slow: took 3 of 900 selected\n"))
                let rejects = try rejects(directory + "/" + name)
                #expect(rejects.first?.message == "The failure rule \"dead\" answers it with 410 Unregistered.")
                #expect(rejects.last?.message == "The failure rule \"tenth\" answers it with 429.")
                all.append(rejects.map(\.line))
            }
            #expect(all[0] == Self.expected(1001))
            #expect(all[1] == all[0])
            let limited = try await replay(["--dry-run", "--limit", "10", "--json"], in: directory)
            #expect(limited.output.split(separator: "\n").count == 10)
            #expect(limited.errors.contains(#""tenth":{"selected":11,"taken":1}"#))
        }
    }

    /// The endpoint and the replay decide alike.
    @Test func theEndpointFailsTheSamePushes() async throws {
        let token = String(repeating: "ab", count: 32)
        try await withTemporaryDirectory { directory in
            let config = Gateway.config(
                to: "http://127.0.0.1:1/", more: Self.rules.replacing("\"2s\"", with: "\"1ms\""))
            let gateway = try await Gateway.start(in: directory, config: config)
            var failed: [Int] = []
            for (number, payload) in Self.recording(33).split(separator: UInt8(ascii: "\n")).enumerated() {
                let reply = try await Reply(
                    gateway.url + "/3/device/" + token, "-H", "apns-topic: com.example.app", "-d",
                    String(decoding: payload, as: UTF8.self))
                if reply.status != 200 { failed.append(number + 1) }
            }
            #expect(await gateway.stop() == 0)
            try write(config, 33, in: directory)
            _ = try await replay(["--dry-run", "--rejects", "rejects"], in: directory)
            #expect(try rejects(directory + "/rejects").map(\.line) == failed)
            #expect(failed == Self.expected(33))
        }
    }

    /// The counters of a run that was killed go on in the next process.
    @Test func aResumedReplayHasTheSameFailures() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                try write(Gateway.config(to: receiver.url, more: Self.rules), 600, in: directory)
                let arguments = ["--resume", "resume", "--rejects", "rejects", "--quiet"]
                let first = try binary.start(
                    ["replay", "--failures", "input", "--rate", "200/s"] + arguments, in: directory,
                    environment: ["WEBHOOK_SECRET": Gateway.secret])
                first.send(Data())
                while try taken(directory + "/resume") < 20 { await Task.yield() }
                first.signal(SIGKILL)
                _ = await first.end()
                let second = try await replay(arguments, in: directory)
                #expect(second.status == 1)
                #expect(try rejects(directory + "/rejects").map(\.line) == Self.expected(600))
                #expect(second.errors.contains("failure rule tenth: took 59 of 599 selected\n"))
                let other = try await binary.run(
                    ["replay", "input"] + arguments, in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(other.status == 2)
                #expect(other.errors.contains("--failures was given when this replay began"))
            }
        }
    }

    /// Settled payloads of a run; 0 before its file exists.
    private func taken(_ path: String) throws -> Int {
        guard let data = FileManager.default.contents(atPath: path) else { return 0 }
        return (try JSONSerialization.jsonObject(with: data) as? [String: Any])?["taken"] as? Int ?? 0
    }

    @Test func withoutTheOptionRulesAreMentionedOnly() async throws {
        try await withTemporaryDirectory { directory in
            try write(Gateway.config(to: "http://127.0.0.1:1/", more: Self.rules), 20, in: directory)
            let result = try await binary.run(["replay", "--dry-run", "input"], in: directory)
            #expect(result.status == 0)
            #expect(result.output.split(separator: "\n").count == 20)
            #expect(result.errors.contains("the failure rules of the config are not applied; --failures applies them"))
            let upload = try await binary.run(["replay", "--failures", "--to", "http://127.0.0.1:1"], in: directory)
            #expect(upload.status == 64)
            #expect(upload.errors.contains("--failures cannot be combined with --to"))
        }
    }

    @Test func explainNamesTheRulesThatSelectAPayload() async throws {
        try await withTemporaryDirectory { directory in
            try write(Gateway.config(to: "http://127.0.0.1:1/", more: Self.rules), 1, in: directory)
            let payload = Data(#"{"aps":{"alert":{"body":"n7"}}}"#.utf8)
            let text = try await binary.run(["explain"], input: payload, in: directory)
            #expect(
                text.output.hasSuffix(
                    """
                    Failure rules, if it were a push to a provider endpoint
                      dead: yes, answered with 410 Unregistered, also the next push
                      google: no, platform differs
                      tenth: yes, answered with 429 (one of 10)
                      slow: yes, delayed by 2s (the first 3), also the next push

                    """), "\(text.output)")
            let json = try await binary.run(["explain", "--json"], input: payload, in: directory)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            let failures = try #require(object["failures"] as? [[String: Any]])
            #expect(failures.compactMap { $0["name"] as? String } == ["dead", "google", "tenth", "slow"])
            #expect(failures[1]["mismatch"] as? String == "platform" && failures[1]["selects"] as? Bool == false)
            #expect(failures[2]["due"] as? Bool == false && failures[0]["due"] as? Bool == true)
        }
    }

    /// The endpoint of Expo receives such a payload, not that of FCM.
    @Test func messagesToExpoAreSelectedByRulesOfExpo() async throws {
        try await withTemporaryDirectory { directory in
            let rules = #"""
                "failures": [ { "name": "google", "answer": { "reason": "UNAVAILABLE" } },
                  { "name": "expo", "answer": { "reason": "DeviceNotRegistered" } } ],
                """#
            try write(Gateway.config(to: "http://127.0.0.1:1/", more: rules), 1, in: directory)
            let message = Data(#"{"to":"ExponentPushToken[a]","title":"x"}"#.utf8)
            try message.write(to: URL(fileURLWithPath: directory + "/input"))
            let text = try await binary.run(["explain"], input: message, in: directory)
            #expect(text.output.contains("  google: no, platform differs\n  expo: yes, "), "\(text.output)")
            let result = try await replay(["--dry-run"], in: directory)
            #expect(result.status == 1)
            #expect(result.errors.contains("failure rule google: took 0 of 0 selected\n"), "\(result.errors)")
            #expect(result.errors.contains("failure rule expo: took 1 of 1 selected\n"), "\(result.errors)")
        }
    }

    /// The running gateway knows the rules of the API and what they have counted.
    @Test func theAPIExplainsWithTheRulesInForce() async throws {
        try await Gateway.run { gateway, _, _ in
            let rule = #"{"every": 2, "answer": {"reason": "Unregistered"}}"#
            #expect(try await Reply(gateway.url + "/v1/failures/second", "-X", "PUT", "-d", rule).status == 201)
            func due() async throws -> [Bool] {
                let reply = try await Reply(gateway.url + "/v1/explain", "-d", #"{"aps":{"alert":"x"}}"#)
                let object = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any]
                let failures = object?["failures"] as? [[String: Any]] ?? []
                #expect(failures.allSatisfy { $0["origin"] as? String == "api" && $0["selects"] as? Bool == true })
                return failures.compactMap { $0["due"] as? Bool }
            }
            // An explanation counts nothing.
            #expect(try await due() == [false])
            #expect(try await due() == [false])
            let url = gateway.url + "/3/device/" + String(repeating: "ab", count: 32)
            let push = try await Reply(url, "-H", "apns-topic: a", "-d", #"{"aps":{"alert":"x"}}"#)
            #expect(push.status == 200)
            #expect(try await due() == [true])
        }
    }
}
