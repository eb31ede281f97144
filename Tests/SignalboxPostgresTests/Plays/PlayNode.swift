import Foundation
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore
import SignalboxStoreTesting
import Synchronization

/// A node of a play: a store behind a proxy of its own, and a task that delivers as the gateway's lanes do. A class
/// because the play and its tasks share it.
final class PlayNode: Sendable {
    static let crm = DestinationName("crm")
    /// Deliveries with equal keys are sent one after another.
    static let line = DestinationName("line")

    let number: Int
    let proxy: CuttingProxy
    let store: PostgresStore
    private let record: PlayRecord
    private let isOver = Atomic<Bool>(false)

    init(_ number: Int, of server: PostgresServer, schema: String, _ record: PlayRecord) throws {
        (self.number, self.record) = (number, record)
        proxy = try CuttingProxy(to: server.port)
        store = try PostgresStore(PostgresTarget(url: PostgresServer.url(port: proxy.port), schema: schema))
        store.openLane(Self.crm) {}
        store.openLane(Self.line, isOrdered: true) {}
    }

    /// Whether the node still runs.
    var isRunning: Bool { !isOver.load(ordering: .acquiring) }

    /// Ends the node like kill -9: its connections end, and it no longer writes.
    func kill() {
        isOver.store(true, ordering: .releasing)
        proxy.set(.refuse)
    }

    /// Ends the tasks of the node without a fault.
    func stop() { isOver.store(true, ordering: .releasing) }

    // MARK: Delivery

    /// Delivers until the node ends.
    func deliver() async {
        while isRunning {
            // A failure is that of the database; the next round follows.
            _ = try? await store.tick()
            var leases: [Lease] = []
            for destination in [Self.crm, Self.line] {
                let begun = ContinuousClock.now
                let claimed = (try? await store.claim(from: destination, upTo: 20)) ?? []
                if !claimed.isEmpty { record.claimed(from: destination, in: .now - begun) }
                leases += claimed
            }
            await withTaskGroup { group in
                for lease in leases { group.addTask { await self.attempt(lease) } }
            }
            // The pace of the load, like that of the gateway's ticks.
            if leases.isEmpty { try? await Task.sleep(for: .milliseconds(20)) }
        }
    }

    private func attempt(_ lease: Lease) async {
        guard isRunning else { return }
        guard store.holds(lease), store.isActive(lease.destination) else {
            await settle(lease, .returned)
            return
        }
        let event = Int(String(decoding: lease.body, as: UTF8.self)) ?? -1
        let attempt = record.began(event, lease.delivery, under: lease.orderKey, on: number)
        for _ in 0..<(event % 7 * 20) { await Task.yield() }
        let fails = lease.earlier == 0 && event % 10 == 3
        record.ended(attempt, event, lease.delivery, isReceived: !fails)
        let failure = Outcome.retry(after: .milliseconds(50), status: 503, reason: "answered 503")
        if let result = await settle(lease, fails ? failure : .delivered(status: 204)) {
            record.settled(attempt, event, as: result)
        }
    }

    /// Repeats a settlement until the store has decided; nil when the node ends first.
    @discardableResult
    private func settle(_ lease: Lease, _ outcome: Outcome) async -> SettlementResult? {
        while isRunning {
            if let result = try? await store.settle(lease, outcome) { return result }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    // MARK: Appends

    /// Appends events with these numbers, and records the outcome.
    func append(_ numbers: [Int], under key: String?) async {
        let now = store.now
        let events = numbers.map { number in
            let event = Event(
                id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
                acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], body: Array(String(number).utf8))
            let order = key.map { DeliveryOrder(to: Self.line, orderKey: $0) } ?? DeliveryOrder(to: Self.crm)
            return RoutedEvent(event: event, routes: [], deliveries: [order])
        }
        do throws(StoreError) {
            try await store.append(events)
            record.accepted(numbers, under: key)
        } catch { record.failed(numbers, with: error) }
    }
}
