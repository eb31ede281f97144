import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// A resumed replay misses no payload, and an event that is sent twice has the same id.
@Suite(.timeLimit(.minutes(30)), .serialized) struct ReplayResumeTests {
    /// `make soak-replay` asks for a million.
    private static let count =
        ProcessInfo.processInfo.environment["SIGNALBOX_REPLAY_PAYLOADS"].flatMap { Int($0) } ?? 20_000

    @Test func killedAtAnyInstantAQueueReplayIsComplete() async throws {
        let seed: UInt64 = 20_261_124
        print("seed \(seed)")
        try await withTemporaryDirectory { directory in
            let play = ReplayPlay(directory: directory, count: Self.count, kills: 10, seed: seed)
            try await play.run { receiver, body in
                try Data(Gateway.config(to: receiver, attempts: 100).utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                try await body(["--data-dir", directory + "/data"])
            }
        }
    }

    @Test func killedAtAnyInstantAGatewayReplayIsComplete() async throws {
        let seed: UInt64 = 20_261_125
        print("seed \(seed)")
        try await withTemporaryDirectory { directory in
            let play = ReplayPlay(
                directory: directory, count: Self.count, kills: 10, seed: seed, goesByItself: true)
            try await play.run { receiver, body in
                let gateway = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver, attempts: 100))
                try await body(["--to", gateway.url, "--connections", "4"])
                #expect(await gateway.stop() == 0)
            }
        }
    }

    private func withInput(
        _ body:
            @escaping @Sendable (
                _ directory: String, _ replay: @Sendable ([String]) async throws -> BuiltBinary.Result
            ) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                try Data(Gateway.config(to: receiver.url).utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                try mixedPayloads().write(to: URL(fileURLWithPath: directory + "/input"))
                try await body(directory) { arguments in
                    try await binary.run(
                        ["replay", "--resume", "resume", "input"] + arguments, in: directory,
                        environment: ["WEBHOOK_SECRET": Gateway.secret])
                }
            }
        }
    }

    @Test func doesNotRepeatACompleteRun() async throws {
        try await withInput { _, replay in
            #expect(try await replay([]).errors.contains("8 delivered"))
            let again = try await replay([])
            #expect(again.status == 0)
            #expect(again.errors.contains("8 events, 0 rejected"))
            #expect(again.errors.contains("0 delivered, 0 dead"))
            #expect(
                again.errors.contains(
                    "signalbox: resume: this run is complete; nothing was read. Remove the file to replay again.\n"))
        }
    }

    @Test func saysThatACompleteRunReadsNoStandardInput() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                try Data(Gateway.config(to: receiver.url).utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                let line = Data((#"{"aps":{"alert":"x"}}"# + "\n").utf8)
                for (input, isRead) in [(line, true), (line + line, false)] {
                    let result = try await binary.run(
                        ["replay", "--quiet", "--resume", "resume"], input: input, in: directory,
                        environment: ["WEBHOOK_SECRET": Gateway.secret])
                    #expect(result.status == 0 && result.errors.contains("1 event, 0 rejected"), "\(result.errors)")
                    #expect(result.errors.contains("nothing was read") != isRead, "\(result.errors)")
                }
            }
        }
    }

    @Test func refusesChangedInputsAndOptions() async throws {
        try await withInput { directory, replay in
            #expect(try await replay(["--vendor", "mce"]).status == 0)
            let other = try await replay([])
            #expect(other.status == 2)
            #expect(
                other.errors.contains(
                    "resume belongs to another replay: --vendor was mce when this replay began. Repeat"))
            let input = try FileHandle(forUpdating: URL(fileURLWithPath: directory + "/input"))
            try input.write(contentsOf: Data("[".utf8))
            try input.close()
            let changed = try await replay(["--vendor", "mce"])
            #expect(changed.status == 2)
            #expect(changed.errors.contains("an input has changed since: input begins with other bytes now"))
            try Data("{}".utf8).write(to: URL(fileURLWithPath: directory + "/resume"))
            let damaged = try await replay([])
            #expect(damaged.status == 2)
            #expect(damaged.errors.contains("resume is not a resume file of this version"))
        }
    }

    @Test func refusesAnotherQueue() async throws {
        try await withInput { directory, replay in
            #expect(try await replay([]).status == 0)
            let other = try await replay(["--data-dir", directory + "/other"])
            #expect(other.status == 2)
            #expect(other.errors.contains("resume belongs to another replay: --data-dir was "), "\(other.errors)")
        }
    }

    @Test func aLimitCountsOverTheWholeRun() async throws {
        try await withInput { _, replay in
            #expect(try await replay(["--limit", "3"]).errors.contains("3 delivered"))
            let again = try await replay(["--limit", "3"])
            #expect(again.errors.contains("3 events, 0 rejected"))
            #expect(again.errors.contains("0 delivered"))
        }
    }

    @Test func aPaceChangesOnlyTheTime() async throws {
        try await withInput { directory, replay in
            let result = try await replay(["--rate", "1000/s", "--time-at", "/at", "--speed", "1000"])
            #expect(result.status == 1, "these payloads have no time")
            #expect(result.errors.contains("0 events, 8 rejected"))
            let timed = (0..<8).map { #"{"aps":{"alert":"x"},"at":\#(1_795_210_140 + $0)}"# }.joined(separator: "\n")
            try Data(timed.utf8).write(to: URL(fileURLWithPath: directory + "/timed"))
            let paced = try await binary.run(
                ["replay", "--rate", "1000/s", "--time-at", "/at", "--speed", "1000", "timed"], in: directory,
                environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(paced.status == 0)
            #expect(paced.errors.contains("8 delivered"))
        }
    }
}
