import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConfigWatchTests {
    /// A gateway with a large queue needs seconds between the reading of its config and the start of the watch.
    @Test func noticesAChangeBeforeItsStart() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/routes.json"
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            let origin = GatewayConfig.Origin(files: [path], folder: nil, digest: "")
            let loaded = FileStamps(of: origin)
            try Data(#"{"routes":[]}"#.utf8).write(to: URL(fileURLWithPath: path))
            let (reloads, reload) = AsyncStream.makeStream(of: Void.self)
            let watch = ConfigWatch(loaded: loaded, origin: { origin }, clock: JumpingClock()) { reload.yield() }
            await withThrowingTaskGroup { group in
                group.addTask { try await watch.run() }
                var iterator = reloads.makeAsyncIterator()
                #expect(await iterator.next() != nil)
                group.cancelAll()
            }
        }
    }
}
