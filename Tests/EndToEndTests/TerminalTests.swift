import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Commands on a pseudoterminal, as people run them.
@Suite(.timeLimit(.minutes(15))) struct TerminalTests {
    /// Runs a command with a terminal as its three streams. `input`: the keys to type. Both outputs are in `output`.
    private func session(
        _ input: String, to arguments: [String], in directory: String
    ) async throws -> BuiltBinary.Result {
        let spawn = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
        return try await binary.run(
            arguments, input: Data(input.utf8), in: directory, behind: ["/usr/bin/python3", "-c", spawn])
    }

    @Test func aPurgeOfUndeliveredDeliveriesAsks() async throws {
        try await Gateway.run { gateway, _, directory in
            #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
            for _ in 0..<2 { #expect(try await gateway.post(Data(#"{"aps":{"alert":"x"}}"#.utf8)).status == 202) }
            let purge = ["deliveries", "purge", "--state", "waiting"]
            let kept = try await session("n\n", to: purge, in: directory)
            #expect(kept.status == 2)
            #expect(kept.output.contains("2 of these deliveries were never delivered. Remove them permanently? [y/N]"))
            #expect(kept.output.contains("No delivery was removed."), "\(kept.output)")
            let preview = try await session("", to: purge + ["--dry-run"], in: directory)
            #expect(preview.output.contains("2 deliveries would be removed"), "\(preview.output)")
            let removed = try await session("y\n", to: purge, in: directory)
            #expect(removed.status == 0 && removed.output.contains("2 deliveries removed"), "\(removed.output)")
        }
    }

    @Test func aRetryOfSeveralDeliveriesAsks() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                try Data(Gateway.config(to: receiver.url).utf8).write(
                    to: URL(fileURLWithPath: directory + "/routes.json"))
                let payloads = Data(String(repeating: #"{"aps":{"alert":"x"}}"# + "\n", count: 2).utf8)
                _ = try await binary.run(
                    ["replay"], input: payloads, in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
                let kept = try await session("\n", to: ["deliveries", "retry", "--dead"], in: directory)
                #expect(kept.status == 2 && kept.output.contains("Requeue 2 deliveries? [y/N]"), "\(kept.output)")
                let forced = try await session("", to: ["deliveries", "retry", "--dead", "--yes"], in: directory)
                #expect(forced.status == 0 && forced.output.contains("2 deliveries requeued"), "\(forced.output)")
            }
        }
    }

    @Test(arguments: [["normalize"], ["explain", "-"]]) func readingFromATerminalIsAnnounced(
        _ arguments: [String]
    ) async throws {
        try await withTemporaryDirectory { directory in
            let result = try await session("{\"aps\":{\"alert\":\"x\"}}\n\u{04}", to: arguments, in: directory)
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.contains(" from standard input; end with ^D."), "\(result.output)")
        }
        let piped = try await binary.run(arguments, input: Data(#"{"aps":{"alert":"x"}}"#.utf8))
        #expect(!piped.errors.contains("standard input"))
    }
}
