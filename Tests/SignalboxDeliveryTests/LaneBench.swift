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

/// A lane with a test queue and a clock that the test moves. The queue's own time stands still, so retries stay
/// waiting.
struct LaneBench {
    let crm = DestinationName("crm")
    let clock = ManualClock()
    let start = Date()

    /// `ahead`: by how many seconds the queue's time is later than the lane's.
    func open(_ directory: String, ahead: TimeInterval = 0) throws -> SQLiteQueue {
        let now = start.addingTimeInterval(ahead)
        return try SQLiteQueue(in: directory, now: { now }, elapsed: { .zero })
    }

    func dispatcher(_ destination: Destination, _ sender: any Sender, _ queue: any LaneStore) -> Dispatcher {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return Dispatcher(
            [(destination: destination, sender: sender)], queue: queue, logger: logger, clock: clock,
            elapsed: { [clock] in clock.elapsed })
    }

    /// Runs a dispatcher of one destination over an empty queue until `body` has ended.
    func run(
        _ destination: Destination, _ sender: any Sender,
        _ body: (_ dispatcher: Dispatcher, _ queue: SQLiteQueue) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let dispatcher = dispatcher(destination, sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await body(dispatcher, queue)
            dispatcher.drain(within: .zero)
            clock.advance(by: .seconds(1))
            await running
        }
    }

    /// Returns once the queue has a recorded status of the destination, or has none.
    func waitForStatus(_ isRecorded: Bool, in queue: SQLiteQueue) async throws {
        while try await (queue.statuses()[crm] != nil) != isRecorded { await Task.yield() }
    }

    func destination(concurrency: Int = 1, perSecond: Double? = nil) -> Destination {
        var destination = Destination(name: crm, endpoint: .inbox)
        destination.retry = .init(attempts: 5, base: .seconds(30), max: .seconds(7200))
        destination.concurrency = concurrency
        destination.perSecond = perSecond
        return destination
    }

    func events(_ numbers: ClosedRange<Int>, orderKey: String? = nil) -> [RoutedEvent] {
        numbers.map { number in
            RoutedEvent(
                event: Event(
                    id: EventID(at: start, random: (UInt64(number), UInt64.random(in: 0 ... .max))), source: .default,
                    acceptedAt: start, vendor: .unknown, kind: .alert, warnings: [], body: Array("{}".utf8)),
                routes: [], deliveries: [DeliveryOrder(to: crm, orderKey: orderKey)])
        }
    }
}

extension Sender {
    /// Sends deliveries that no other process can take over.
    func send(_ leases: [Lease]) async -> SendResult {
        await send(leases) { true }
            ?? SendResult(.failed(.stopped), Attempt(startedAt: .distantPast, duration: .zero))
    }
}
