import Foundation
import GRDB
import Logging
import SignalboxEgress
import SignalboxNotification
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxConfig
@testable import SignalboxGateway
@testable import SignalboxRouting
@testable import SignalboxSQLite
@testable import SignalboxStore

/// A lane with a slow or failing file, on a clock that the test moves.
@Suite(.timeLimit(.minutes(15))) struct LaneFaultTests {
    private let crm = DestinationName("crm")
    private let clock = ManualClock()
    private let start = Date()
    private let log = LogLines()

    // MARK: 410

    /// The first of three requests at once disables the destination, and each of them has one line.
    @Test func everyA410IsOneLine() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let holds = [Hold(), Hold(), Hold()]
            let sender = ScriptedSender { [calls = Counter()] _, _ in
                await holds[calls.next() - 1].wait()
                return .replied(status: 410, retryAfter: nil)
            }
            try await queue.append((1...3).map { event($0) })
            let dispatcher = dispatcher(sender, queue, concurrency: 3)
            async let running: Void = dispatcher.runUntilDrained()
            await sender.begun(3)
            for hold in holds { hold.end() }
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.dead: 3]])
            #expect(log.count(of: "Destination disabled; deliveries wait until it is resumed.") == 1)
            #expect(log.count(of: "Delivery moved to dead letters.") == 2)
        }
    }

    /// Deliveries are in flight when the destination answers 410: deliveries returned by them are not sent.
    @Test func doesNotSendClaimsDuringA410() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let (first, second) = (Hold(), Hold())
            let sender = ScriptedSender { [calls = Counter()] _, _ in
                if calls.next() == 1 {
                    await first.wait()
                    return .replied(status: 204, retryAfter: nil)
                }
                await second.wait()
                return .replied(status: 410, retryAfter: nil)
            }
            try await queue.append((1...50).map { event($0) })
            let dispatcher = dispatcher(sender, queue, concurrency: 2)
            async let running: Void = dispatcher.runUntilDrained()
            await sender.begun(2)
            while !isFileLookedAt(queue) { await Task.yield() }
            let lock = try await lock(on: directory)
            // One place is free, for which a claim is made that must wait for the lock.
            first.end()
            while isFileLookedAt(queue) { await Task.yield() }
            second.end()
            await log.waitFor("Destination disabled")
            try await unlock(lock)
            dispatcher.drain()
            await running
            #expect(sender.attempts == 2)
            #expect(try await queue.counts() == [crm: [.delivered: 1, .dead: 1, .waiting: 48]])
            #expect(try await queue.statuses()[crm]?.word == "disabled")
            #expect(try await queue.audit().isRight)
            let waiting = try await queue.deliveries(DeliveryFilter(state: .waiting), limit: 50)
            #expect(waiting.allSatisfy { $0.attempts == 0 }, "it costs them no attempt")
        }
    }

    /// Resumed, everything goes out that waited, once each.
    @Test func sendsWaitingDeliveriesAfterResume() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = ScriptedSender { [calls = Counter()] _, _ in
                .replied(status: calls.next() == 1 ? 410 : 204, retryAfter: nil)
            }
            let dispatcher = dispatcher(sender, queue, concurrency: 1)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append((1...50).map { event($0) })
            await log.waitFor("Destination disabled")
            while try await queue.statuses()[crm] == nil { await Task.yield() }
            try await queue.append((51...60).map { event($0) })
            #expect(sender.attempts == 1)
            try await queue.set(nil, of: crm)
            await sender.waitFor(attempts: 60)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.delivered: 59, .dead: 1]])
            #expect(Set(sender.events).count == 60)
        }
    }

    /// A start that fails, for example because its address is in use, cancels all services.
    @Test func aCancelledStartReportsNoFailureOfTheQueue() async throws {
        try await withTemporaryDirectory { directory in
            let sender = ScriptedSender { _, _ in .replied(status: 204, retryAfter: nil) }
            let dispatcher = dispatcher(sender, try open(directory), concurrency: 1)
            dispatcher.drain()
            let run = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await dispatcher.runUntilDrained()
            }
            await run.value
            #expect(log.count(of: "Cannot record the status of destinations.") == 0)
        }
    }

    // MARK: The file fails

    /// Five lines a second would fill a log that an operator has to read.
    @Test func claimsThatFailInARowAreLoggedOnce() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await doNotWait(queue)
            try await queue.append((1...5).map { event($0) })
            let sender = ScriptedSender { _, _ in .replied(status: 204, retryAfter: nil) }
            let dispatcher = dispatcher(sender, queue, concurrency: 2)
            let lock = try await lock(on: directory)
            async let running: Void = dispatcher.runUntilDrained()
            await log.waitFor("Cannot read the queue.")
            for tick in 1...20 {
                await clock.waitForSleeper(until: .milliseconds(200 * tick))
                // A failed claim leaves the file to be read again.
                while !isFileLookedAt(queue) { await Task.yield() }
                clock.advance(by: .milliseconds(200))
            }
            #expect(log.count(of: "Cannot read the queue.") == 1)
            try await unlock(lock)
            await clock.waitForSleeper(until: .milliseconds(200 * 21))
            clock.advance(by: .milliseconds(200))
            await sender.waitFor(attempts: 5)
            dispatcher.drain()
            await running
        }
    }

    @Test func aClaimThatFailsIsMadeAgainAtALaterTick() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await doNotWait(queue)
            try await queue.append((1...5).map { event($0) })
            let sender = ScriptedSender { _, _ in .replied(status: 204, retryAfter: nil) }
            let dispatcher = dispatcher(sender, queue, concurrency: 2)
            let lock = try await lock(on: directory)
            async let running: Void = dispatcher.runUntilDrained()
            await log.waitFor("Cannot read the queue.")
            await clock.waitForSleeper(until: .milliseconds(200))
            #expect(sender.attempts == 0)
            try await unlock(lock)
            await tick(until: sender, attempts: 5)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.delivered: 5]])
        }
    }

    /// An outcome that cannot be written holds its lease, and is written when that is possible.
    @Test func anOutcomeThatCannotBeRecordedIsRecordedLaterAndTheLaneGoesOn() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await doNotWait(queue)
            let hold = Hold()
            let sender = ScriptedSender { _, _ in
                await hold.wait()
                return .replied(status: 204, retryAfter: nil)
            }
            try await queue.append((1...5).map { event($0) })
            let dispatcher = dispatcher(sender, queue, concurrency: 1)
            async let running: Void = dispatcher.runUntilDrained()
            await sender.begun(1)
            let lock = try await lock(on: directory)
            hold.end()
            await log.waitFor("Cannot record outcomes")
            await clock.waitForSleeper(until: .seconds(1))
            try await unlock(lock)
            clock.advance(by: .seconds(1))
            await tick(until: sender, attempts: 5)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.delivered: 5]])
            #expect(Set(sender.events).count == 5, "none twice")
        }
    }

    /// Its timer is let go with it.
    @Test func aLaneThatIsToBeQuietForLongEndsAtOnceWhenItIsDrained() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 503, retryAfter: .seconds(3600)) }
            try await queue.append((1...5).map { event($0) })
            let dispatcher = dispatcher(sender, queue, concurrency: 1)
            async let running: Void = dispatcher.runUntilDrained()
            await clock.waitForSleeper(until: .seconds(3600))
            dispatcher.drain()
            await running
            #expect(sender.attempts == 1)
            #expect(try await queue.counts() == [crm: [.waiting: 5]])
        }
    }

    // MARK: Parts

    /// One for which no time passes.
    private func open(_ directory: String) throws -> SQLiteQueue {
        try SQLiteQueue(in: directory, now: { [start] in start }, elapsed: { .zero })
    }

    /// The wait for a lock is not under test.
    private func doNotWait(_ queue: SQLiteQueue) async throws {
        try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 0") }
    }

    /// Lets ticks pass until the sender has made some attempts. A claim that failed while the file was locked may end
    /// after the next tick; the lane makes it again at the tick after that.
    private func tick(until sender: ScriptedSender, attempts: Int) async {
        while sender.attempts < attempts {
            clock.advance(by: .milliseconds(200))
            await Task.yield()
        }
    }

    /// Whether the last look at the file is over, and there was more.
    private func isFileLookedAt(_ queue: SQLiteQueue) -> Bool {
        queue.file.lanes.withHandOff { [crm] in $0.lanes[crm]?.mayHaveMore ?? false }
    }

    /// No other process writes the file from now on.
    private func lock(on directory: String) async throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        // A tick may record the time.
        configuration.busyMode = .timeout(60)
        let other = try DatabaseQueue(path: directory + "/queue.db", configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        return other
    }

    private func unlock(_ other: DatabaseQueue) async throws {
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    private func dispatcher(_ sender: ScriptedSender, _ queue: SQLiteQueue, concurrency: Int) -> Dispatcher {
        var destination = Destination(name: crm, endpoint: .inbox)
        destination.retry = .init(attempts: 5, base: .seconds(3600), max: .seconds(7200))
        destination.concurrency = concurrency
        return Dispatcher(
            [(destination: destination, sender: sender)], queue: queue,
            logger: log.logger, clock: clock,
            elapsed: { [clock] in clock.elapsed })
    }

    private func event(_ number: Int) -> RoutedEvent {
        RoutedEvent(
            event: Event(
                id: EventID(at: start, random: (UInt64(number), UInt64.random(in: 0 ... .max))), source: .default,
                acceptedAt: start, vendor: .unknown, kind: .alert, warnings: [], body: Array("{}".utf8)),
            routes: [], deliveries: [DeliveryOrder(to: crm)])
    }
}

/// Blocks callers until it ends.
private final class Hold: Sendable {
    private let (ended, ending) = AsyncStream.makeStream(of: Void.self)

    func wait() async { for await _ in ended {} }

    func end() { ending.finish() }
}

/// A class because attempts at the same time share it.
final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
