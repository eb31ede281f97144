import SignalboxConfig
import SignalboxGateway
import SignalboxSQLite
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxStore

/// A lane whose places all went to other processes.
@Suite(.timeLimit(.minutes(5))) struct PlacelessLaneTests {
    private let bench = LaneBench()

    /// The others could not send what the lane collected, and would wait until the batch is old.
    @Test func returnsTheDeliveriesThatItCollected() async throws {
        try await withTemporaryDirectory { directory in
            let queue = SharedQueue(try bench.open(directory), share: 1)
            var webhook = Destination.Webhook(url: "https://hooks.example.com", secrets: [])
            webhook.format = .cloudEventsBatch(.init(count: 50))
            var destination = Destination(name: bench.crm, endpoint: .webhook(webhook))
            destination.concurrency = 1
            let sender = ScriptedSender { _, _ in .replied(status: 204, retryAfter: nil) }
            let dispatcher = bench.dispatcher(destination, sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.store.append(bench.events(1...3))
            while queue.claimed.value < 3 { await Task.yield() }
            queue.share.withLock { $0 = 0 }
            queue.wakeAll()
            while queue.returned.value < 3 { await Task.yield() }
            // A claim that the lane began before may be in progress; the next wake-up returns those deliveries too.
            var leases: [Lease] = []
            while leases.count < 3 {
                queue.wakeAll()
                leases += try await queue.store.claim(from: bench.crm, upTo: 5)
                await Task.yield()
            }
            #expect(leases.map(\.attempts) == [0, 0, 0] && sender.attempts == 0)
            dispatcher.drain(within: .zero)
            bench.clock.advance(by: .seconds(60))
            await running
        }
    }
}
