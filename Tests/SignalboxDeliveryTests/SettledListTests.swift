import Foundation
import SignalboxGateway
import SignalboxSQLite
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxStore

/// Outcomes are settled in lists.
@Suite(.timeLimit(.minutes(5))) struct SettledListTests {
    private let bench = LaneBench()

    /// Attempts that end before the lane's next pass are one list.
    @Test func attemptsThatEndTogetherAreOneList() async throws {
        try await withTemporaryDirectory { directory in
            let queue = SharedQueue(try bench.open(directory), share: nil)
            try await queue.store.append(bench.events(1...8))
            let dispatcher = bench.dispatcher(bench.destination(concurrency: 8), PromptSender(), queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(queue.lists.withLock(\.self) == [Array(1...8)])
            #expect(try await queue.store.counts() == [bench.crm: [.delivered: 8]])
        }
    }

    /// Only the one that failed is repeated. The lane continues meanwhile, and its end waits for it.
    @Test func aSettlementThatFailsIsRepeatedAlone() async throws {
        try await withTemporaryDirectory { directory in
            let queue = SharedQueue(try bench.open(directory), share: nil)
            queue.failing.withLock { $0 = [3] }
            try await queue.store.append(bench.events(1...4))
            let dispatcher = bench.dispatcher(bench.destination(concurrency: 4), PromptSender(), queue)
            async let running: Void = dispatcher.runUntilDrained()
            await bench.clock.waitForSleeper(until: .seconds(1))
            try await queue.store.append(bench.events(5...6))
            while queue.lists.withLock(\.count) < 2 { await Task.yield() }
            dispatcher.drain()
            bench.clock.advance(by: .seconds(1))
            await bench.clock.waitForSleeper(until: .seconds(2))
            queue.failing.withLock { $0 = [] }
            bench.clock.advance(by: .seconds(1))
            await running
            #expect(queue.lists.withLock { $0.flatMap(\.self) }.sorted() == [1, 2, 3, 3, 3, 4, 5, 6])
            #expect(try await queue.store.counts() == [bench.crm: [.delivered: 6]])
        }
    }
}

/// A sender whose attempts succeed before its call returns.
private struct PromptSender: Sender {
    func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (SendResult?) -> Void
    ) {
        guard mayBegin() else { return done(nil) }
        done(SendResult(.replied(status: 204, retryAfter: nil), Attempt(startedAt: .distantPast, duration: .zero)))
    }
}
