import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

/// Receivers that answer large batches with 413.
@Suite(.timeLimit(.minutes(15))) struct LargeBatchTests {
    private let bench = LaneBench()

    private func destination(concurrency: Int) -> Destination {
        var destination = bench.destination(concurrency: concurrency)
        var webhook = Destination.Webhook(url: "https://crm.example", secrets: [])
        webhook.format = .cloudEventsBatch(.init(count: 8))
        destination.endpoint = .webhook(webhook)
        return destination
    }

    /// Sends eight events, the deliveries 1 to 8, and returns the stored deliveries, the first one first.
    private func deliveries(through sender: SizedSender, concurrency: Int = 1) async throws -> [DeliveryRecord] {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            try await queue.append(bench.events(1...8))
            let dispatcher = bench.dispatcher(destination(concurrency: concurrency), sender, queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            return try await queue.deliveries(DeliveryFilter(), limit: 9).reversed()
        }
    }

    /// `most`: events in a request that the receiver accepts.
    @Test(
        arguments: [(1, 8, 1), (1, 3, 7), (1, 1, 15), (4, 8, 1), (4, 3, 7), (4, 1, 15)] as [(Int, Int, Int)])
    func sendsTheHalvesOfALargeBatch(concurrency: Int, most: Int, requests: Int) async throws {
        let sender = SizedSender { $0.count > most }
        let records = try await deliveries(through: sender, concurrency: concurrency)
        #expect(records.count == 8)
        #expect(records.allSatisfy { $0.state == .delivered && $0.attempts == 1 && $0.status == 204 })
        #expect(sender.requests.count == requests)
        #expect(Set(sender.requests).count == requests, "each request once")
    }

    @Test func onlyAnEventThatIsTooLargeBecomesADeadLetter() async throws {
        let sender = SizedSender { $0.contains(3) }
        let records = try await deliveries(through: sender)
        #expect(records.filter { $0.state == .dead }.map(\.id) == [3])
        #expect(records.count { $0.state == .delivered } == 7)
        #expect(records.first { $0.id == 3 }?.status == 413)
        #expect(
            sender.requests == [
                [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4], [1, 2], [3, 4], [3], [4], [5, 6, 7, 8],
            ])
    }
}

/// Answers requests with these deliveries with 413, and others with 204. A class because lane and test share it.
private final class SizedSender: Sender {
    private let isTooLarge: @Sendable ([Int64]) -> Bool
    private let made = Mutex<[[Int64]]>([])

    init(_ isTooLarge: @escaping @Sendable ([Int64]) -> Bool) { self.isTooLarge = isTooLarge }

    /// The deliveries of each request.
    var requests: [[Int64]] { made.withLock(\.self) }

    func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        guard mayBegin() else { return done { nil } }
        let deliveries = leases.map(\.delivery)
        made.withLock { $0.append(deliveries) }
        let status = isTooLarge(deliveries) ? 413 : 204
        done {
            SendResult(.replied(status: status, retryAfter: nil), Attempt(startedAt: .distantPast, duration: .zero))
        }
    }
}
