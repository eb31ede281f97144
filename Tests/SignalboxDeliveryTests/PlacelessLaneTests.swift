import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
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
            let queue = SharedQueue(try bench.open(directory))
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

/// A queue of one process that gives out places like a shared one. A class because lanes refer to it.
private final class SharedQueue: LaneStore {
    let store: SQLiteQueue
    /// The places of this process.
    let share = Mutex(1)
    /// Deliveries that the lane claimed, and those that it returned.
    let (claimed, returned) = (SignalboxStore.Counter(), SignalboxStore.Counter())

    init(_ store: SQLiteQueue) { self.store = store }

    var sharesLimits: Bool { true }

    func places(of destination: DestinationName, outOf limit: Int) -> Int? { share.withLock(\.self) }

    func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        let leases = try await store.claim(from: destination, upTo: limit)
        claimed.add(leases.count)
        return leases
    }

    func settle(_ settlement: Settlement) async throws(StoreError) -> SettlementResult {
        let result = try await store.settle(settlement)
        if case .returned = settlement.outcome { returned.add() }
        return result
    }

    // MARK: Passed on

    var health: StoreHealth { store.health }
    var fleet: FleetStatus? { store.fleet }
    var now: Date { store.now }

    func announce(config digest: String, version: String) { store.announce(config: digest, version: version) }
    func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] { try await store.gauges() }

    func openLane(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {
        store.openLane(destination, isOrdered: isOrdered, wake: wake)
    }

    func closeLane(_ destination: DestinationName) async throws(StoreError) { try await store.closeLane(destination) }
    func giveBackFresh() async throws(StoreError) { try await store.giveBackFresh() }
    func tick() async throws(StoreError) -> [DestinationName] { try await store.tick() }
    func wakeAll() { store.wakeAll() }
    func takeResumed(_ destination: DestinationName) -> Bool { store.takeResumed(destination) }
    func mayHaveMore(of destination: DestinationName) -> Bool { store.mayHaveMore(of: destination) }
    func readingNumber(of destination: DestinationName) -> Int? { store.readingNumber(of: destination) }
    func isActive(_ destination: DestinationName) -> Bool { store.isActive(destination) }
    func isWithheld(by destination: DestinationName) -> Bool { store.isWithheld(by: destination) }

    func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError) {
        try await store.withhold(reason, by: destination)
    }

    func permit(by destination: DestinationName) async throws(StoreError) { try await store.permit(by: destination) }

    func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError) {
        try await store.record(backoff, of: destination)
    }

    func forgetBackoffs() async throws(StoreError) { try await store.forgetBackoffs() }
}
