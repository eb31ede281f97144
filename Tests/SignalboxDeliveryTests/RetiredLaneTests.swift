import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxSQLite
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxStore

/// Lanes that a reload or an operator ends while something is in progress.
@Suite(.timeLimit(.minutes(5))) struct RetiredLaneTests {
    private let bench = LaneBench()

    /// Its successor would wait for it permanently. The delivery is sent again instead of being lost.
    @Test func aRetiredLaneGivesUpOutcomesThatADamagedFileRejects() async throws {
        try await withTemporaryDirectory { directory in
            let queue = SharedQueue(try bench.open(directory), share: nil)
            queue.failing.withLock { $0 = [1] }
            queue.failure.withLock { $0 = .damaged(path: "queue.db", reason: "a bad page") }
            let old = ScriptedSender { _, _ in .replied(status: 204, retryAfter: nil) }
            let (held, release) = AsyncStream.makeStream(of: Void.self)
            let new = ScriptedSender { _, _ in
                for await _ in held {}
                return .replied(status: 204, retryAfter: nil)
            }
            let dispatcher = bench.dispatcher(bench.destination(), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.store.append(bench.events(1...1))
            await bench.clock.waitForSleeper(until: .seconds(1))
            dispatcher.replace([(bench.destination(concurrency: 2), new)], deadLetters: nil) { _ in true }
            try await queue.store.append(bench.events(2...2))
            #expect(new.attempts == 0, "one lane at a time")
            bench.clock.advance(by: .seconds(1))
            await new.begun(2)
            queue.failing.withLock { $0 = [] }
            release.finish()
            dispatcher.drain()
            await running
            #expect(old.events.count == 1 && Set(old.events + new.events).count == 2)
            #expect(try await queue.store.counts() == [bench.crm: [.delivered: 2]])
            #expect(try await queue.store.audit().isRight)
        }
    }

    /// The answer of the token server comes after the pause.
    @Test func aPauseDuringTheRequestForATokenReturnsTheDelivery() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AwaitingSender()
            let dispatcher = bench.dispatcher(bench.destination(), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append(bench.events(1...1))
            while sender.asked.value == 0 { await Task.yield() }
            try await queue.set(.paused, of: bench.crm)
            sender.grant()
            while try await queue.deliveries(DeliveryFilter(), limit: 1).contains(where: \.isInProgress) {
                await Task.yield()
            }
            #expect(sender.sent.value == 0)
            #expect(try await queue.deliveries(DeliveryFilter(), limit: 1).map(\.attempts) == [0])
            try await queue.set(nil, of: bench.crm)
            // At a tick, the lane learns that the delivery waits again.
            while sender.sent.value == 0 { try await queue.tick() }
            dispatcher.drain()
            await running
            #expect(sender.sent.value == 1)
            #expect(try await queue.counts() == [bench.crm: [.delivered: 1]])
        }
    }
}

/// A sender that waits for a token before each request. A class because the lane and the test share it.
private final class AwaitingSender: Sender {
    /// Requests for a token, and requests to the destination.
    let (asked, sent) = (SignalboxStore.Counter(), SignalboxStore.Counter())
    private let (granted, granting) = AsyncStream.makeStream(of: Void.self)

    /// The token server answers from now on.
    func grant() { granting.finish() }

    func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        asked.add()
        Task {
            for await _ in granted {}
            guard mayBegin() else { return done { nil } }
            sent.add()
            let attempt = Attempt(startedAt: .distantPast, duration: .zero)
            done { SendResult(.replied(status: 204, retryAfter: nil), attempt) }
        }
    }
}
