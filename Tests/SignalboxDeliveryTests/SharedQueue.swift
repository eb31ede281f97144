import Foundation
import SignalboxNotification
import SignalboxSQLite
import Synchronization

@testable import SignalboxStore

/// A queue of one process that gives out places like a shared one. A class because lanes refer to it.
final class SharedQueue: LaneStore {
    let store: SQLiteQueue
    /// The places of this process; nil for all.
    let share: Mutex<Int?>
    /// Deliveries that the lane claimed, and those that it returned.
    let (claimed, returned) = (SignalboxStore.Counter(), SignalboxStore.Counter())
    /// The deliveries of each list that the lane settled.
    let lists = Mutex<[[Int64]]>([])
    /// Deliveries whose settlements fail.
    let failing = Mutex<Set<Int64>>([])
    /// Called before each claim.
    let whenClaiming = Mutex<(@Sendable () -> Void)?>(nil)
    /// How they fail.
    let failure = Mutex(StoreError.unavailable(reason: "a bad page"))

    init(_ store: SQLiteQueue, share: Int?) {
        self.store = store
        self.share = Mutex(share)
    }

    var sharesLimits: Bool { true }

    func places(of destination: DestinationName, outOf limit: Int) -> Int? { share.withLock(\.self) ?? limit }

    func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        whenClaiming.withLock { $0 }?()
        let leases = try await store.claim(from: destination, upTo: limit)
        claimed.add(leases.count)
        return leases
    }

    func settle(_ settlements: [Settlement]) async -> [Result<SettlementResult, StoreError>] {
        lists.withLock { $0.append(settlements.map(\.lease.delivery)) }
        var results: [Result<SettlementResult, StoreError>] = []
        for settlement in settlements {
            guard !failing.withLock({ $0.contains(settlement.lease.delivery) }) else {
                results.append(.failure(failure.withLock(\.self)))
                continue
            }
            results += await store.settle([settlement])
            if case .returned = settlement.outcome { returned.add() }
        }
        return results
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
