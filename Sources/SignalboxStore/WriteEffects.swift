package import Foundation
package import SignalboxNotification

/// Changes in memory that follow a commit. ``apply(to:_:_:observer:)`` runs after the commit, ``undo(in:_:)`` after a
/// failure; never both. A store collects them while it writes, and applies them outside of the transaction.
package struct WriteEffects: Sendable {
    /// New deliveries that are leased at once: their rows say that the attempt has begun. Their lanes have reserved
    /// room for them.
    package var fresh: [Lease] = []
    /// Reserved room for deliveries that have no number yet, in bytes.
    package var reserved: [(destination: DestinationName, bytes: Int)] = []
    /// Destinations with deliveries in the store only that are new, or behind one that ended without an attempt.
    package var spilled: Set<DestinationName> = []
    /// The time at which held deliveries are sent without a release.
    package var expected: [DestinationName: Date] = [:]
    /// Leases that ended, with the time of the next attempt; nil when there is none.
    package var released: [(lease: Lease, due: Date?)] = []
    /// Searches that ended, with the leases that they led to.
    package var claimed: [(search: DueSearch, leases: [Lease])] = []
    /// Destinations that a settlement disabled, for example after 410 Gone. The store tells the lanes itself, in the
    /// order of its commits.
    package var disabled: Set<DestinationName> = []
    /// Categories that count as known before the commit.
    package var categories: [String] = []
    /// Categories that count as known after the commit, and when they were recorded.
    package var seen: [(record: CategoryRecord, at: Date)] = []
    /// In-app messages that were registered, changed or withdrawn.
    package var messages: [StoredInAppMessage] = []
    /// Whether an event was stored: a repeat or a duplicate stores none, and does not show that there is room for one.
    package var storesEvents = false
    /// Whether there may be something to download or to release.
    package var wakesDownloads = false
    /// Deliveries that ended.
    package var ends: [DestinationName: [DeliveryRecord.State: Int]] = [:]

    /// No effects.
    package init() {}

    /// Wakes each lane once. Callbacks run outside the lock of the lanes. `observer`: receives changed in-app
    /// messages.
    package func apply(
        to lanes: Lanes, _ known: KnownCategories, _ health: StoreHealth,
        observer: @autoclosure () -> (@Sendable ([StoredInAppMessage]) -> Void)?
    ) {
        if !ends.isEmpty { health.ends.add(ends) }
        for (record, time) in seen { known.insert(record, at: time) }
        lanes.withHandOff { handOff in
            for lease in fresh { handOff.withLane(lease.destination) { $0.deliver(lease) } }
            for destination in spilled { handOff.withLane(destination) { $0.leaveToStore() } }
            for (destination, due) in expected { handOff.withLane(destination) { $0.expect(due) } }
            for (lease, due) in released { handOff.withLane(lease.destination) { $0.release(lease, due: due) } }
            for (search, leases) in claimed {
                handOff.withLane(search.destination) { $0.finishReading(leases, of: search) }
            }
        }
        if !messages.isEmpty { observer()?(messages) }
        lanes.wake(spilled.union(fresh.map(\.destination)))
        if wakesDownloads { lanes.wakeDownloads() }
    }

    /// Frees the room that was reserved, and the deliveries of claims: their rows are unchanged, and their lane claims
    /// them again.
    package func undo(in lanes: Lanes, _ known: KnownCategories) {
        known.remove(categories)
        lanes.withHandOff { handOff in
            for lease in fresh { handOff.withLane(lease.destination) { $0.forget(lease) } }
            for (destination, bytes) in reserved { handOff.withLane(destination) { $0.forget(bytes) } }
            for (search, leases) in claimed { handOff.forgetClaim(leases, of: search.destination) }
        }
    }
}
