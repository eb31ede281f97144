import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// `signalbox capture` next to a running gateway.
@Suite(.timeLimit(.minutes(15))) struct CaptureCommandTests {
    @Test func endsWithThePushesThatItWaitsFor() async throws {
        try await CaptureSetting.run { setting async throws in
            try await setting.push("first", prefix: "/r/t1")
            let command = try binary.start([
                "capture", "--url", setting.gateway.url, "--run", "t1", "--until", "2", "--timeout", "1m",
            ])
            try await setting.push("other", prefix: "/r/t2")
            try await setting.push(#"second\u001B[2J"#, prefix: "/r/t1")
            let output = await command.output.text()
            #expect(await command.end() == 0)
            let lines = output.split(separator: "\n")
            #expect(lines.count == 2 && lines[0].contains("first") && lines[1].contains("second"))
            #expect(lines.allSatisfy { $0.contains("200 accepted") && $0.contains("run t1") })
            #expect(!output.contains("\u{1B}") && !output.contains(CaptureSetting.token))
        }
    }

    @Test func namesTheOtherPushesAfterItsTime() async throws {
        try await CaptureSetting.run { setting async throws in
            try await setting.push("other", prefix: "/r/t2")
            let result = try await binary.run([
                "capture", "--url", setting.gateway.url, "--run", "t1", "--until", "1", "--timeout", "10ms",
            ])
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(result.errors.contains("0 of 1 push arrived within 10ms. Other pushes, newest first:\n"))
            #expect(result.errors.contains("run is t2, expected t1"))
            let part = try await binary.run([
                "capture", "--url", setting.gateway.url, "--run", "t2", "--until", "2", "--timeout", "10ms",
            ])
            #expect(part.status == 1 && part.errors.contains("1 of 2 pushes arrived within 10ms."))
            let none = try await binary.run([
                "capture", "--url", setting.gateway.url, "--new", "--until", "1", "--timeout", "0s",
            ])
            #expect(none.status == 1 && none.errors.contains("No other push arrived."))
        }
    }

    @Test func printsJSONOfMatchingPushes() async throws {
        try await CaptureSetting.run { setting async throws in
            for text in ["a", "b", "c"] { try await setting.push(text) }
            let pattern = setting.directory + "/pattern.json"
            let match = #"{"data":{"content":{"body":["b","c"]}}}"#
            try Data(match.utf8).write(to: URL(fileURLWithPath: pattern))
            for match in [match, pattern] {
                let result = try await binary.run([
                    "capture", "--url", setting.gateway.url, "--match", match, "--until", "2", "--json", "--token",
                    CaptureSetting.token, "--platform", "apns", "--source", "default",
                ])
                #expect(result.status == 0, "\(result.errors)")
                let objects = try result.output.split(separator: "\n").map {
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
                }
                let subjects = objects.map { ($0?["event"] as? [String: Any])?.text("subject") }
                #expect(subjects == ["unknown/alert", "unknown/alert"])
            }
        }
    }

    @Test func endsInOrderOnControlC() async throws {
        try await CaptureSetting.run { setting async throws in
            try await setting.push()
            let command = try binary.start(["capture", "--url", setting.gateway.url])
            for await _ in command.output.stream { break }
            command.signal(SIGINT)
            #expect(await command.end() == 130)
        }
    }

    @Test func presentsTheTokenOfAnOperator() async throws {
        let config = #""admin": { "auth": { "bearer": ["env:ADMIN"] } },"#
        try await CaptureSetting.run(config: config, environment: ["ADMIN": "operator"]) { setting async throws in
            try await setting.push()
            let arguments = ["capture", "--url", setting.gateway.url, "--until", "1", "--timeout", "0s"]
            let refused = try await binary.run(arguments)
            #expect(refused.status == 2 && refused.errors.contains("An admin token is required"))
            #expect(refused.errors.contains("--admin-token or SIGNALBOX_ADMIN_TOKEN"))
            let accepted = try await binary.run(arguments, environment: ["SIGNALBOX_ADMIN_TOKEN": "operator"])
            #expect(accepted.status == 0, "\(accepted.errors)")
            let clear = try await binary.run(arguments + ["--admin-token", "operator"])
            #expect(clear.status == 64 && !clear.errors.contains("operator\n"))
        }
    }

    @Test(arguments: [
        ["--until", "0"], ["--timeout", "5s"], ["--until", "1", "--timeout", "soon"], ["--url", "ftp://x"],
        ["--match", "{", "--until", "1"], ["--match", "/nowhere/pattern.json"],
        ["--url", "http://127.0.0.1:1", "--until", "1"],
    ])
    func refusesUnusableArguments(_ arguments: [String]) async throws {
        let result = try await binary.run(["capture"] + arguments)
        #expect([2, 64].contains(result.status), "\(result.status) \(result.errors)")
        #expect(!result.errors.isEmpty)
    }
}
