package import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// The durable queue in one SQLite file. Writes that are made at the same time share commits. A class because it is
/// shared state: the file, and which leases are held.
///
/// Any number of tasks may call it at the same time. Reads run on up to three connections and see the last commit.
/// Writes run one group after another on a single connection; a write returns once its commit is synced to the disk.
///
/// Errors: ``StoreError/damaged(path:reason:)`` for content that cannot be read, ``StoreError/stalled(for:)`` while a
/// commit blocks the writer, ``StoreError/undecided(after:)`` for an append whose commit outlasts the deadline,
/// otherwise ``StoreError/unavailable(reason:)``.
package final class SQLiteQueue: Store {
    /// One for the process: it has the connections, the clock and the leases in memory.
    let file: SQLiteFile
    /// Groups up to 512 writes into one transaction, and gives up on an append after ``StoreLimits/patience``.
    let commits: CommitGroup<SQLiteWrite, SQLiteWrite.Output>
    /// The version of the file at the last read of changes by other processes. The value of `PRAGMA data_version` on
    /// the writer's connection; nil never matches it.
    private let lastVersion: Mutex<Int64?>
    /// The host of the download that was returned last. The next search starts after it, so the hosts take turns. Lost
    /// on restart. Nil before the first download.
    let mediaTurn = Mutex<String?>(nil)
    /// Damaged held deliveries, which are not released. Numbers of deliveries. Grows until the process ends.
    let unreadableHeld = Mutex<Set<Int64>>([])
    /// The ends of the backoffs that this process has recorded, in milliseconds since 1970.
    let recordedBackoffs = Mutex<[DestinationName: Int64]>([:])
    /// Whether this process opened the queue as its owner, not next to it.
    let isOwner: Bool
    /// When this process last recorded the wall clock; nil before.
    let recordedTime = Mutex<Date?>(nil)
    /// Results of in-app upkeep that stay valid for a while. Lost on restart.
    let inAppUpkeep = Mutex(InAppUpkeep())

    /// Opens or creates the queue in a data directory. `now`: the wall clock. `elapsed`: time since any start, which
    /// reveals that the wall clock was set. `mustExist`: throws for a file without a queue instead of creating one.
    /// `migrates`: false next to the owner. `delayed`: schedules the checks of commit deadlines. Throws for a
    /// directory that cannot be written, a damaged file, one that is not a queue, and a failed migration.
    package init(
        in directory: String, mustExist: Bool = false, migrates: Bool = true,
        now: @escaping @Sendable () -> Date = { Date() },
        elapsed: @escaping @Sendable () -> Duration = SQLiteQueue.sinceStart, delayed: DelayedCall = .onQueue
    ) throws(StoreError) {
        let clock = StoreClock(wall: now, elapsed: elapsed)
        let file = try SQLiteFile(in: directory, mustExist: mustExist, migrates: migrates, clock: clock)
        self.file = file
        isOwner = migrates
        do {
            // Must come first: a change by another process after this read is seen at the first tick.
            lastVersion = Mutex(try file.pool.writeWithoutTransaction { try Self.version(in: $0) })
            if migrates { file.followFormerClock() }
            try file.pool.read { try file.adoptStatuses(in: $0) }
        } catch { throw StoreError(error, path: file.path) }
        let start = ContinuousClock.now
        commits = CommitGroup(
            limit: 512, heaviest: StoreLimits.deliveriesOfCommit, patience: StoreLimits.patience, delayed: delayed,
            now: { start + elapsed() }
        ) { (writes) throws(CommitFailure) in try file.commit(writes) }
    }

    /// Read once, when it is first used.
    private static let start = ContinuousClock.now

    /// Monotonic time since the first use in this process, unaffected by changes of the wall clock.
    package static let sinceStart: @Sendable () -> Duration = { ContinuousClock.now - start }

    /// The wall clock, which may be set back. Stored times are compared with it after the waits have followed it.
    package var now: Date { file.clock.now }
    /// Shared with the API. Reading it never blocks on the disk.
    package var health: StoreHealth { file.health }

    /// Changes with each commit of another connection. Must run on the writer's connection, because the value is
    /// relative to the connection that asks.
    private static func version(in db: Database) throws -> Int64? { try db.number("PRAGMA data_version") }

    /// Throws while a commit takes so long that another write would only wait behind it. Callers check before they
    /// start a write, so a hanging disk fails requests at once instead of queueing them.
    func checkDisk() throws(StoreError) {
        if let time = commits.commitTime, time >= StoreLimits.longestCommit { throw .stalled(for: time) }
    }

    /// Performs a write transaction that does not belong to a commit group. `body` receives the connection and the
    /// time of the transaction, runs on the writer's thread, and is rolled back when it throws. It must not change
    /// lanes: no effect in memory is undone. `then` does so, after the commit and before the next transaction: changes
    /// in memory have the order of the commits. Waits for the group that is being committed. Throws
    /// ``StoreError/stalled(for:)`` instead of waiting behind a hanging disk. `requiringPlace`: also throws if the file
    /// is no longer at its path, for a write that a caller relies on.
    @discardableResult
    func write<T: Sendable>(
        requiringPlace: Bool = false, _ body: @escaping @Sendable (Database, Date) throws -> T,
        then: @escaping @Sendable (T) -> Void = { _ in }
    ) async throws(StoreError) -> T {
        try checkDisk()
        do {
            return try await file.pool.writeWithoutTransaction { [file] db in
                if requiringPlace { try file.requirePlace(of: db) }
                let result = try file.transaction(in: db) { now in try body(db, now) }
                then(result)
                return result
            }
        } catch { throw file.failure(error) }
    }

    /// Performs a write that has no result. Returns once the write is durable. Throws when its group failed, or when
    /// it alone failed in a second attempt.
    func commit(_ write: SQLiteWrite) async throws(StoreError) { _ = try await commits.write(write) }

    // MARK: Lanes

    /// Called once for each destination of a config. `wake` is called from any thread when there may be work. Does
    /// not read the file: the lane claims when it is woken, which happens at once.
    package func openLane(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {
        file.lanes.open(destination, isOrdered: isOrdered, wake: wake)
    }

    /// Returns leases that were not begun to the file. Attempts in progress may still be settled.
    package func closeLane(_ destination: DestinationName) async throws(StoreError) {
        var fresh = file.lanes.withHandOff { $0.withLane(destination) { $0.beginClosing() } ?? [] }
        // A commit in progress may still hand something over. None does after a later commit has ended.
        repeat {
            try await giveBack(fresh)
            fresh = file.lanes.withHandOff { $0.takeFresh(of: [destination]) }
        } while !fresh.isEmpty
        file.lanes.close(destination)
    }

    /// Empty when no delivery is due or the destination is not active. The leases are durable: a crash counts them as
    /// attempts.
    package func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        guard limit > 0, file.lanes.isActive(destination) else { return [] }
        return try await file.lanes.claim(from: destination, upTo: limit) { () throws(StoreError) in
            let search = try await searchAroundDamage(destination, upTo: limit)
            return try await commits.write(.claim(destination, upTo: limit, of: search)).leases
        }
    }

    /// The due deliveries that can be read, if the file is known to be damaged; nil otherwise. Runs before the claim
    /// and outside its transaction, so the claim checks every result again.
    private func searchAroundDamage(
        _ destination: DestinationName, upTo limit: Int
    ) async throws(StoreError) -> DueSearch? {
        guard health.damage != nil else { return nil }
        let now = now
        return try await file.read { [file] db in
            var search = DueSearch(of: destination, limit: limit, file.lanes)
            try search.runAroundDamage(by: now, in: db, path: file.path)
            return search
        }
    }

    /// Durable when it returns. The result is `lost`, and nothing is recorded, for a lease that is no longer held.
    package func settle(_ settlements: [Settlement]) async -> [Result<SettlementResult, StoreError>] {
        await commits.write(settlements.map { .settle($0) }).map { $0.map(\.settlementResult) }
    }

    /// Called at the stop, so the next start does not count attempts that never began.
    package func giveBackFresh() async throws(StoreError) { try await giveBackFresh(of: nil) }

    /// Returns fresh deliveries to the file, of a destination or of all. Their lanes read them again.
    func giveBackFresh(of destination: DestinationName?) async throws(StoreError) {
        let fresh = file.lanes.withHandOff { handOff in
            destination.map { handOff.takeFresh(of: [$0]) } ?? handOff.takeFresh(of: handOff.lanes.keys)
        }
        if !fresh.isEmpty { try await giveBack(fresh) }
    }

    /// Returns leases to the file. When that fails permanently, releases them in memory only. The file then still
    /// says that they were begun, which counts one attempt too many and loses nothing. The lanes can then claim these
    /// deliveries again at once. Rethrows the failure. One write for all of them.
    private func giveBack(_ leases: [Lease]) async throws(StoreError) {
        do throws(StoreError) {
            try await commit(.giveBack(leases))
        } catch {
            let now = now
            file.lanes.withHandOff { handOff in
                for lease in leases { handOff.withLane(lease.destination) { $0.release(lease, due: now) } }
            }
            throw error
        }
    }

    /// Adopts changes of other processes, follows the clock, wakes due lanes and expires deliveries, in this order.
    /// Throws the first failure; the next tick does the rest. Returns the destinations whose pause it ended.
    @discardableResult
    package func tick() async throws(StoreError) -> [DestinationName] {
        let version: Int64?
        do {
            version = try await file.pool.writeWithoutTransaction { try Self.version(in: $0) }
        } catch { throw file.failure(error) }
        if lastVersion.withLock({ $0 != version }) {
            try await adoptChanges()
            // After the read, so that the next tick repeats a read that failed.
            lastVersion.withLock { $0 = version }
        }
        try await followClock()
        // Destinations that accept nothing keep nothing in memory: their lanes later read it from the file.
        let idle = file.lanes.idleDestinations
        let fresh = file.lanes.withHandOff { $0.takeFresh(of: idle) + $0.takeOverdue(at: now) }
        if !fresh.isEmpty { try await giveBack(fresh) }
        file.lanes.wakeDue(at: now)
        try await expire()
        // Last, because both concern single destinations.
        try await adoptResumes()
        let resumed = try await endPauses()
        await recordTime()
        return resumed
    }

    /// Reads changes by other processes. For example `signalbox destinations pause`, or a retry from the command
    /// line. Wakes every lane, because any of them may have new work.
    private func adoptChanges() async throws(StoreError) {
        wakeAll()
        try await adoptStatuses()
    }

    /// Moves all waits along with a clock that was set. Callers that compare stored times with the present call it
    /// first; transactions do it by themselves. The empty write has no effect of its own: each transaction moves the
    /// waits before its body.
    func followClock() async throws(StoreError) {
        if file.clock.read().jump != nil { try await commit(.giveBack([])) }
    }

    /// Cheap: lanes without work go back to sleep.
    package func wakeAll() { file.lanes.wakeAll(at: now) }

    /// An index leads to the overdue deliveries. Leaves out deliveries with a single attempt, whose `not_after` is 0.
    static let overdue = """
        SELECT id, destination FROM deliveries WHERE state = 'waiting' AND not_after > 0 AND not_after <= ?
        ORDER BY not_after LIMIT 1000
        """

    /// Ends waiting deliveries that have expired, including those that wait for a retry. Ends at most 1000 per tick,
    /// the longest overdue first. Leased deliveries are left to their attempt. The transaction checks each of them
    /// again, because its state may have changed since the read. A delivery that has one attempt is not among them: it
    /// ends with that attempt.
    private func expire() async throws(StoreError) {
        let now = now.milliseconds
        let overdue = try await file.read { db in
            try db.rows(Self.overdue, [now]).map {
                SQLiteWrite.Overdue(delivery: try $0.number(0), destination: DestinationName(try $0.text(1)))
            }
        }
        let free = file.lanes.withHandOff { handOff in
            overdue.filter { !handOff.isHeld($0.delivery, of: $0.destination) }
        }
        if !free.isEmpty { try await commit(.expire(free)) }
    }

    /// The number of the read in progress; nil when none is. A number that stays the same shows a read that hangs.
    package func mayHaveMore(of destination: DestinationName) -> Bool { file.lanes.mayHaveMore(of: destination) }

    package func readingNumber(of destination: DestinationName) -> Int? { file.lanes.readingNumber(of: destination) }
}

extension SQLiteWrite.Output {
    /// Traps for another kind of write.
    fileprivate var settlementResult: SettlementResult {
        guard case .settled(let result) = self else { preconditionFailure("The write is not a settlement.") }
        return result
    }

    /// Traps for another kind of write.
    fileprivate var leases: [Lease] {
        guard case .claimed(let leases) = self else { preconditionFailure("The write is not a claim.") }
        return leases
    }
}
