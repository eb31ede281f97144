import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// `signalbox inapp simulate` and the example client.
@Suite(.timeLimit(.minutes(15))) struct InAppSimulationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardized.path

    private static let timeline = """
        {"at":"2026-11-22T10:00:00Z","id":"a","message":{"vendor":"own","kind":"bar","triggers":[{"type":"sessionStart"}]}}
        {"at":"2026-11-22T10:00:01Z","trigger":{"device":"d","event":{"type":"sessionStart"}}}

        """

    private func simulate(
        _ arguments: [String], _ input: String = timeline, in directory: String = NSTemporaryDirectory()
    ) async throws -> BuiltBinary.Result {
        try await binary.run(["inapp", "simulate"] + arguments, input: Data(input.utf8), in: directory)
    }

    @Test func printsTheTableOfAnExample() async throws {
        let example = Self.root + "/Examples/inapp/cap-over-two-devices"
        let result = try await simulate([example + ".ndjson"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.output == String(contentsOfFile: example + ".expected.txt", encoding: .utf8))
    }

    @Test func readsStandardInputAndPrintsJSON() async throws {
        let result = try await simulate(["-", "--json"])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        let decision = try #require(lines.first)
        let json = try JSONSerialization.jsonObject(with: Data(decision.utf8)) as? [String: Any]
        #expect(lines.count == 1 && json?["line"] as? Int == 2)
    }

    @Test func appliesThePolicyOfTheConfig() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{"inapp":{"pauses":[{"name":"launch"}]}}"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/paused.json"))
            #expect(try await simulate(["-"], in: directory).output.contains("offered"))
            let paused = try await simulate(["-", "--config", "paused.json"], in: directory)
            #expect(!paused.output.contains("offered") && paused.output.contains("paused"))
        }
    }

    @Test func reportsMistakesWithoutADecision() async throws {
        let wrong = try await simulate(
            ["-"], Self.timeline + "{\"at\":\"2026-11-22T09:00:00Z\",\"withdraw\":\"a\"}\n{}")
        #expect(wrong.status == 2 && wrong.output.isEmpty)
        #expect(wrong.errors.contains("standard input:3: /at: This time is before that of line 2"))
        #expect(wrong.errors.contains("standard input:4: /at: at is missing"))
        let missing = try await simulate(["no-such-file.ndjson"])
        #expect(missing.status == 2 && missing.errors.contains("no-such-file.ndjson"))
        try await withTemporaryDirectory { directory in
            try Data(#"{"inapp":{"lease":"0s"}}"#.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            #expect(try await simulate(["-"], in: directory).status == 2)
        }
    }

    private static let node = ["/usr/bin/node", "/usr/local/bin/node"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: node != nil, "Node is not installed"))
    func theExampleClientShowsAndReports() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.node))
        process.arguments = [Self.root + "/Tests/inapp-client.mjs"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
