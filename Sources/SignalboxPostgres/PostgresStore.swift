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
    let appends: AppendCommits
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
        let reference = StoreReference()
        appends = AppendCommits(reference)
        reference.set(self)
        do {
            try PostgresSchema.migrate(PostgresConnection(target))
        } catch { throw StoreError(error) }
    }

    package var now: Date { clock() }
}

/// Refers to the store from the commit groups that the store owns. A class because it is set after they are made.
final class StoreReference: Sendable {
    private struct Target { weak var store: PostgresStore? }

    private let target = Mutex(Target())

    func set(_ store: PostgresStore) { target.withLock { $0.store = store } }

    /// Throws once nobody uses the store any longer.
    func store() throws(CommitFailure) -> PostgresStore {
        guard let store = target.withLock({ $0.store }) else {
            throw CommitFailure(reason: .unavailable(reason: "the store was closed"), mayBeOfOneWrite: false)
        }
        return store
    }
}
