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
    /// The database by its identity: a connection to another one at the same address fails.
    let target: PostgresTarget
    /// Registers this process in `nodes` when a write, a lane or a download first needs an incarnation.
    let membership: NodeMembership
    /// One for each lane. Each connects at its first transaction.
    let writers: [WriterLane: PostgresWriter]
    /// Three connections for reads, and for the few writes that need no mark of a lane, such as those of rates.
    let readers: PostgresReaders
    /// The leases that are held in memory, and the callbacks that wake destinations and downloads.
    let lanes = Lanes()
    /// Categories that were recorded within the hour.
    let categories = KnownCategories()
    /// Reports changed in-app messages.
    let inAppChanges: InAppChanges
    /// When the last walk through addressed messages without an end ended; nil before the first.
    let lastInAppWalk = Mutex<Date?>(nil)
    /// The commit group of decisions about in-app messages.
    let decisions: InAppDecisions
    package let health = StoreHealth()
    /// Accepted events on their way to a commit.
    let appends: AppendCommits
    /// The server's time. Due times and expiries are compared with this clock, never with that of the machine.
    let clock: PostgresClock
    /// Settlements and claims on their way to a commit.
    let commits: LaneCommits
    /// Not started before the first lane is opened.
    let heartbeat: Heartbeat
    /// Until when ticks do not wake ordered destinations whose due deliveries are all blocked.
    let rests = OrderedRests()
    /// The due times at which unordered searches begin, by destination.
    let hints = DueHints()
    /// The numbers at which ordered searches begin; forgotten with the incarnation.
    let floors = LineFloors()
    /// The sizes of the events of recent claims.
    let sizes = ClaimSizes()
    /// Destinations whose last claim found due deliveries with an order key, and whose lanes do not order them.
    let keyed = Mutex<Set<DestinationName>>([])
    /// Leases that no lane knew at the first of two looks.
    let sweeps = Sweeps()
    /// Settlements whose commit may or may not have taken place.
    let undecided = UndecidedOutcomes()
    /// Outcomes that were not recorded, because their lease was no longer held.
    let lost = Counter()
    /// The places of this node, by destination.
    let shares = Mutex<[DestinationName: Int]>([:])
    /// Quiet times and breakers of other nodes, as of the last look.
    let othersBackoffs = Mutex<[DestinationName: OthersBackoff]>([:])
    /// The breakers that this node has recorded.
    let ownBreakers = OwnBreakers()
    /// When active destinations were last resumed, as of the last look and by this process since; nil before the first
    /// look. In whole milliseconds, as stored.
    let resumes = Mutex<[DestinationName: Date]?>(nil)
    /// Counts changes of destinations by this process; see ``changeStatuses(_:)``.
    let statusChanges = Mutex(0)

    /// The turn of the hosts, and the membership of this node in the downloads.
    let mediaTurn = Mutex(MediaTurn())

    /// The key by which all nodes hash device tokens: 32 bytes.
    package let tokenKey: [UInt8]

    /// Connects, and applies or requires migrations. Blocks. `now`: the store's clock; `instant`: the time by which
    /// commits of appends are measured. Tests replace both. Throws
    /// ``StoreError/unreachable(reason:)`` when a later call may succeed, and ``StoreError/refused(reason:remedy:)`` or
    /// ``StoreError/otherTables(place:isNewer:)`` when an operator must change something first.
    package convenience init(
        _ target: PostgresTarget, tables: PostgresTables = .migrated, now: (@Sendable () -> Date)? = nil,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws(StoreError) {
        let (tokenKey, target) = try tables.open(target)
        self.init(target, tokenKey: tokenKey, now: now, instant: instant)
        do {
            let sentAt = ContinuousClock.now
            let results = try PostgresConnection(target).run(all: [
                PostgresStatement("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
                StoredStatuses.statement,
            ])
            if let time = try results[0].first?.number(0) { clock.sample(time, sentAt: sentAt, receivedAt: .now) }
            adopt(try StoredStatuses(results[1]), since: 0)
        } catch { throw StoreError(error) }
    }

    deinit { heartbeat.end() }

    /// A store that stands in for one that cannot be opened yet: every call throws ``StoreError/unreachable(reason:)``.
    /// `reason`: a clause. Connects to nothing, now or later.
    package convenience init(insteadOf target: PostgresTarget, reason: String) {
        self.init(target.closed(because: reason), tokenKey: [UInt8](repeating: 0, count: 32), now: nil) { .now }
    }

    private init(
        _ target: PostgresTarget, tokenKey: [UInt8], now: (@Sendable () -> Date)?,
        instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        (self.target, self.tokenKey) = (target, tokenKey)
        let clock = PostgresClock(now)
        self.clock = clock
        let membership = NodeMembership(target)
        self.membership = membership
        writers = Dictionary(
            uniqueKeysWithValues: WriterLane.allCases.map { lane in
                (lane, PostgresWriter(lane, of: target, membership, now: { clock.now }))
            })
        readers = PostgresReaders(target)
        inAppChanges = InAppChanges(target, now: { clock.now })
        let reference = StoreReference()
        appends = AppendCommits(reference, now: instant)
        decisions = InAppDecisions(reference)
        commits = LaneCommits(reference)
        heartbeat = Heartbeat(reference)
        reference.set(self)
        membership.onReplacement { [lanes, floors, ownBreakers] in
            lanes.withHandOff { $0.forgetLeases() }
            floors.reset()
            ownBreakers.forget()
        }
    }

    /// Without a round trip. Follows the clock of the machine until the first answer of the server.
    package var now: Date { clock.now }
}

/// Refers to the store from the commit groups that the store owns. A class because it is set after they are made.
final class StoreReference: Sendable {
    private struct Target { weak var store: PostgresStore? }

    private let target = Mutex(Target())

    /// Called once, before the groups receive their first write.
    func set(_ store: PostgresStore) { target.withLock { $0.store = store } }

    /// Nil once the last user of the store has released it.
    var current: PostgresStore? { target.withLock { $0.store } }

    /// Throws once the last user of the store has released it.
    func store() throws(CommitFailure) -> PostgresStore {
        guard let store = target.withLock({ $0.store }) else {
            throw CommitFailure(reason: .unavailable(reason: "the store was closed"), mayBeOfOneWrite: false)
        }
        return store
    }
}
