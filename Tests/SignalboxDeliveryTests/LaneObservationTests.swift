import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// The changes of a destination that operators see in the live view.
@Suite(.timeLimit(.minutes(3))) struct LaneObservationTests {
    private let bench = LaneBench()
    private let observation = Observation()

    private func dispatcher(
        _ destination: Destination, _ sender: any SignalboxGateway.Sender, _ queue: SQLiteQueue
    ) -> Dispatcher {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return Dispatcher(
            [(destination: destination, sender: sender)], queue: queue, observation: observation, logger: logger,
            clock: bench.clock, elapsed: { [bench] in bench.clock.elapsed })
    }

    /// State and reason of each change, in order.
    private var changes: [[String]] {
        observation.recent.read(after: RecentPosition(), upTo: 1000).entries.compactMap { entry in
            if case .destination(let change) = entry.item { [change.state, change.reason ?? ""] } else { nil }
        }
    }

    @Test func aBatchThatIsAnswered410IsOneChange() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            var destination = bench.destination()
            var webhook = Destination.Webhook(url: "https://crm.example", secrets: [])
            webhook.format = .cloudEventsBatch(.init(count: 50))
            destination.endpoint = .webhook(webhook)
            let sender = ScriptedSender { _, _ in .replied(status: 410, retryAfter: nil) }
            try await queue.append(bench.events(1...50))
            let dispatcher = dispatcher(destination, sender, queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(try await queue.counts()[bench.crm]?[.dead] == 50 && sender.attempts == 1)
            #expect(changes == [["disabled", "answered 410: it is gone"]])
        }
    }

    /// A claim of a slow store takes long.
    @Test func placesOfAClaimAreNotInFlight() async throws {
        try await withTemporaryDirectory { directory in
            let queue = SharedQueue(try bench.open(directory), share: nil)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = bench.dispatcher(bench.destination(concurrency: 4), sender, queue)
            let seen = Mutex<[Int]>([])
            let crm = bench.crm
            let look: @Sendable () -> Void = {
                seen.withLock { $0.append(dispatcher.snapshots()[crm]?.inFlight ?? -1) }
            }
            queue.whenClaiming.withLock { $0 = look }
            try await queue.store.append(bench.events(1...1))
            async let running: Void = dispatcher.runUntilDrained()
            await sender.waitFor(attempts: 1)
            dispatcher.drain()
            await running
            #expect(seen.withLock { $0.first } == 0)
        }
    }

    @Test func theEndOfAPauseIsAChange() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            try await queue.append(bench.events(1...1))
            try await queue.set(.paused, of: bench.crm, until: bench.start.addingTimeInterval(-1), as: nil)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = dispatcher(bench.destination(), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            await sender.waitFor(attempts: 1)
            dispatcher.drain()
            await running
            #expect(changes == [["active", "the pause is over"]])
        }
    }
}
