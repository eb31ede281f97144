import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct DispatcherTests {
    @Test func deliversAppendedEventsAndEndsWhenDrained() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = makeDispatcher([(destination("crm"), sender)], queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append((1...300).map { event($0, to: ["crm"]) })
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [DestinationName("crm"): [.delivered: 300]])
            #expect(sender.attempts == 300)
        }
    }

    /// The append, the lane's first read of the queue and the order to end happen in any order.
    @Test func drainsEveryDeliveryAppendedBefore() async throws {
        for _ in 0..<60 {
            try await withTemporaryDirectory { directory in
                let queue = try SQLiteQueue(in: directory)
                let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
                let dispatcher = makeDispatcher([(destination("crm"), sender)], queue)
                async let running: Void = dispatcher.runUntilDrained()
                try await queue.append([event(1, to: ["crm"])])
                dispatcher.drain()
                await running
                #expect(try await queue.counts() == [DestinationName("crm"): [.delivered: 1]])
            }
        }
    }

    @Test func retriesTheSameEvent() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let sender = ScriptedSender { _, number in
                number < 3 ? .replied(status: 503, retryAfter: nil) : .replied(status: 200, retryAfter: nil)
            }
            let dispatcher = makeDispatcher([(destination("crm", base: .milliseconds(1)), sender)], queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append([event(1, to: ["crm"])])
            await sender.waitFor(attempts: 3)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [DestinationName("crm"): [.delivered: 1]])
            #expect(Set(sender.events).count == 1)
        }
    }

    @Test func keepsRejectedDeliveriesAsDeadLetters() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let sender = ScriptedSender { _, _ in .replied(status: 400, retryAfter: nil) }
            let dispatcher = makeDispatcher([(destination("crm"), sender)], queue)
            try await queue.append([event(1, to: ["crm"])])
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            let dead = try await queue.deliveries(DeliveryFilter(state: .dead), limit: 5)
            #expect(dead.map(\.reason) == ["answered 400"])
        }
    }

    @Test func hangingDestinationDoesNotDelayOthers() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let (never, release) = AsyncStream.makeStream(of: Void.self)
            let hanging = ScriptedSender { _, _ in
                for await _ in never {}
                return .replied(status: 200, retryAfter: nil)
            }
            let good = ScriptedSender { _, _ in .replied(status: 204, retryAfter: nil) }
            let dispatcher = makeDispatcher([(destination("hangs"), hanging), (destination("good"), good)], queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append((1...200).map { event($0, to: ["hangs", "good"]) })
            await good.waitFor(attempts: 200)
            #expect(hanging.attempts <= 16, "no more than its concurrency")
            release.finish()
            dispatcher.drain()
            await running
            #expect(try await queue.counts()[DestinationName("good")] == [.delivered: 200])
        }
    }

    @Test func neverExceedsADestinationsConcurrency() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let gauge = Mutex((now: 0, most: 0))
            let sender = ScriptedSender { _, _ in
                gauge.withLock { gauge in
                    gauge.now += 1
                    gauge.most = max(gauge.most, gauge.now)
                }
                await Task.yield()
                gauge.withLock { $0.now -= 1 }
                return .replied(status: 200, retryAfter: nil)
            }
            let dispatcher = makeDispatcher([(destination("crm", concurrency: 3), sender)], queue)
            try await queue.append((1...100).map { event($0, to: ["crm"]) })
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(gauge.withLock { $0.most } <= 3)
            #expect(sender.attempts == 100)
        }
    }

    private func makeDispatcher(_ lanes: [(Destination, ScriptedSender)], _ queue: SQLiteQueue) -> Dispatcher {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return Dispatcher(lanes.map { (destination: $0.0, sender: $0.1) }, queue: queue, logger: logger)
    }

    private func destination(_ name: String, base: Duration = .seconds(5), concurrency: Int = 16) -> Destination {
        var destination = Destination(name: DestinationName(name), endpoint: .inbox)
        destination.retry = .init(attempts: 5, base: base, max: .seconds(60))
        destination.concurrency = concurrency
        return destination
    }

    private func event(_ number: Int, to destinations: [String]) -> RoutedEvent {
        let now = Date()
        let id = EventID(at: now, random: (UInt64(number), UInt64.random(in: 0 ... .max)))
        return RoutedEvent(
            event: Event(
                id: id, source: .default, acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [],
                body: Array("{}".utf8)),
            routes: [], deliveries: destinations.map { DeliveryOrder(to: DestinationName($0)) })
    }
}

/// A sender with scripted answers, by event and by number of its attempt.
final class ScriptedSender: Sender {
    let url: String?
    private let script: @Sendable (Lease, Int) async -> RetryPolicy.Answer
    private let made = Mutex<[String]>([])
    private let count: AsyncStream<Int>
    private let counting: AsyncStream<Int>.Continuation

    init(to url: String? = nil, _ script: @escaping @Sendable (Lease, Int) async -> RetryPolicy.Answer) {
        (self.url, self.script) = (url, script)
        (count, counting) = AsyncStream.makeStream(of: Int.self)
    }

    var events: [String] { made.withLock { $0 } }
    var attempts: Int { events.count }

    /// Returns once `wanted` attempts have begun.
    func begun(_ wanted: Int) async {
        while attempts < wanted, !Task.isCancelled { await Task.yield() }
    }

    /// Returns once `wanted` attempts have begun, and the last of them has its answer.
    func waitFor(attempts wanted: Int) async {
        for await count in count where count >= wanted { return }
    }

    func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        guard mayBegin() else { return done { nil } }
        let lease = leases[0]
        let (number, total) = made.withLock { made in
            made.append(lease.event)
            return (made.count { $0 == lease.event }, made.count)
        }
        Task {
            let answer = await script(lease, number)
            done { SendResult(answer, Attempt(startedAt: Date(), duration: .milliseconds(1))) }
            counting.yield(total)
        }
    }
}
