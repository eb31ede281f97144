package import Foundation
import SignalboxNotification
package import SignalboxStore
import Synchronization

/// The durable queue in a PostgreSQL database that any number of nodes share.
///
/// Nodes write on several connections at once; each write is one transaction, and returns once its commit is durable.
/// A class because it is shared state: connections, and the leases that this node holds.
///
/// Errors: ``StoreError/unavailable(reason:)`` while the database cannot be reached or written,
/// ``StoreError/undecided(after:)`` when a connection was lost during a commit and its outcome could not be found out.
package final class PostgresStore: Store {
    let target: PostgresTarget
    let membership: NodeMembership
    let writers: [WriterLane: PostgresWriter]
    let readers: PostgresReaders
    /// The leases that are held in memory, and the callbacks that wake destinations and downloads.
    let lanes = Lanes()
    /// Categories that were recorded within the hour.
    let categories = KnownCategories()
    /// Receives changed in-app messages; set by `openInApp(onChange:)`.
    let inAppObserver = Mutex<(@Sendable ([StoredInAppMessage]) -> Void)?>(nil)
    package let health = StoreHealth()
    private let clock: @Sendable () -> Date

    /// Connects, and brings the schema up to date. `now`: the store's clock; replaced by tests.
    package init(_ target: PostgresTarget, now: @escaping @Sendable () -> Date = { Date() }) throws(StoreError) {
        self.target = target
        clock = now
        let membership = NodeMembership(target)
        self.membership = membership
        writers = Dictionary(
            uniqueKeysWithValues: WriterLane.allCases.map { lane in
                (lane, PostgresWriter(lane, of: target, membership, now: now))
            })
        readers = PostgresReaders(target)
        do {
            try PostgresSchema.migrate(PostgresConnection(target))
        } catch { throw StoreError(error) }
    }

    package var now: Date { clock() }
}
