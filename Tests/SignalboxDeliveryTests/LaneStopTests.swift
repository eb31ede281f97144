import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// The conditions that a stop waits for.
@Suite(.timeLimit(.minutes(15))) struct LaneStopTests {
    private let bench = LaneBench()

    @Test func stopReturnsDeliveriesThatWaitForTheRate() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = bench.dispatcher(bench.destination(perSecond: 0.25), sender, queue)
            // Its lane is open already, so that all are handed over in memory, begun.
            queue.openLane(bench.crm) {}
            try await queue.append(bench.events(1...3))
            async let running: Void = dispatcher.runUntilDrained()
            await bench.clock.waitForSleeper(until: .seconds(4))
            dispatcher.drain(within: .seconds(5))
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 1, .waiting: 2]])
            let next = try bench.open(directory)
            next.openLane(bench.crm) {}
            #expect(try await next.claim(from: bench.crm, upTo: 5).map(\.earlier) == [0, 0])
        }
    }

    @Test func drainSendsAllDeliveriesOfAnOrderKey() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            var destination = bench.destination(concurrency: 4)
            destination.ordering = .init()
            try await queue.append(bench.events(1...40, orderKey: "device"))
            let dispatcher = bench.dispatcher(destination, sender, queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(try await queue.counts() == [bench.crm: [.delivered: 40]])
        }
    }

    /// A replay ends with such a drain.
    @Test func drainWaitsForTheRate() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = bench.dispatcher(bench.destination(perSecond: 0.25), sender, queue)
            try await queue.append(bench.events(1...2))
            dispatcher.drain()
            async let running: Void = dispatcher.runUntilDrained()
            await bench.clock.waitForSleeper(until: .seconds(4))
            bench.clock.advance(by: .seconds(4))
            // The lane looks for further deliveries only when the rate permits an attempt.
            await bench.clock.waitForSleeper(until: .seconds(8))
            bench.clock.advance(by: .seconds(4))
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 2]])
        }
    }
}
