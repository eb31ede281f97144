import Foundation
import SignalboxSQLite
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway
@testable import SignalboxStore

/// Outcomes are settled in lists.
@Suite(.timeLimit(.minutes(5))) struct SettledListTests {
    private let bench = LaneBench()

    @Test func attemptsThatEndedAreTakenTogether() async {
        let ended = EndedAttempts()
        let attempts = (1...3).map { Lease(delivery: $0, event: "e", destination: bench.crm, attempts: 0, body: []) }
        for lease in attempts { ended.add(EndedAttempt(begunAt: .zero, leases: [lease])) }
        #expect(await ended.takeAll().flatMap(\.leases).map(\.delivery) == [1, 2, 3])
        async let next = ended.takeAll()
        ended.add(EndedAttempt(begunAt: .zero, leases: [attempts[0]]))
        #expect(await next.count == 1)
        ended.close()
        #expect(await ended.takeAll().isEmpty && ended.isClosed)
        // One that was in progress.
        async let last = ended.takeAll()
        ended.add(EndedAttempt(begunAt: .zero, leases: [attempts[1]]))
        #expect(await last.count == 1)
    }

    @Test func eachAttemptIsSettledOnce() async throws {
        try await withTemporaryDirectory { directory in
            let queue = SharedQueue(try bench.open(directory), share: nil)
            try await queue.store.append(bench.events(1...100))
            let dispatcher = bench.dispatcher(bench.destination(concurrency: 8), PromptSender(), queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(queue.lists.withLock { $0.flatMap(\.self) }.sorted() == Array(1...100))
            #expect(try await queue.store.counts() == [bench.crm: [.delivered: 100]])
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
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        guard mayBegin() else { return done { nil } }
        done { SendResult(.replied(status: 204, retryAfter: nil), Attempt(startedAt: .distantPast, duration: .zero)) }
    }
}
