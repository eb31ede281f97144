import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct InterruptTests {
    /// Far more input than the command reads before the first event arrives.
    @Test func replayEndsInOrderOnControlC() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                try Data(Gateway.config(to: receiver.url).utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                let input = directory + "/input.ndjson"
                let lines = String(repeating: #"{"aps":{"alert":"x"}}"# + "\n", count: 400_000)
                try Data(lines.utf8).write(to: URL(fileURLWithPath: input))
                let replay = try binary.start(
                    ["replay", input], in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
                _ = await receiver.next()
                replay.signal(SIGINT)
                #expect(await replay.end() == 130)
                #expect(await replay.errors.text().contains("delivered, 0 dead"))
            }
        }
    }
}
