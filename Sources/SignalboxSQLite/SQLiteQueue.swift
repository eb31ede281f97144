internal import CSQLite
package import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// The durable queue in one SQLite file: WAL mode, `synchronous=FULL`, commits shared by all who write at the time.
///
/// What `append` has returned for is on disk. A class because it is shared state: the file, and who holds which lease.
package final class SQLiteQueue: Store {
    let pool: DatabasePool
    let path: String
    let now: @Sendable () -> Date
    let lanes = Lanes()
    let mediaWaker = MediaWaker()
    /// The host whose downloads were given out last.
    let mediaTurn = Mutex<String?>(nil)
    let commits: CommitGroup<SQLiteWriter.Write, SQLiteWriter.Output>
    private let commitHealth = CommitHealth()
    let knownCategories = KnownCategories()
    /// The file's version when this process last read what others may change.
    private let lastVersion: Mutex<Int?>
    /// Damage of the file, and upkeep that fails.
    package let health = StoreHealth()
    let record = QueueRecordKeeper()
    /// Damaged held deliveries, which are not released.
    let unreadableHeld = Mutex<Set<Int64>>([])
    let elapsed: @Sendable () -> Duration
    let clockNotes: ClockNotes
    let checkpointer: Checkpointer
    /// Under way, or cut short by a failure.
    let clockShift = Mutex<ClockShift?>(nil)

    /// Opens or creates the queue in a data directory. `now`: the clock that decides what is due. `elapsed`: monotonic
    /// time from any start, which reveals that the clock was set. `mustExist`: throws for a file without a queue
    /// instead of creating one. `delayed`: schedules the checks of commit deadlines.
    package init(
        in directory: String, mustExist: Bool = false, now: @escaping @Sendable () -> Date = { Date() },
        elapsed: @escaping @Sendable () -> Duration = SQLiteQueue.sinceStart, delayed: DelayedCall = .onQueue
    ) throws(StoreError) {
        path = directory + "/queue.db"
        self.now = now
        self.elapsed = elapsed
        clockNotes = ClockNotes(now: now, elapsed: elapsed)
        checkpointer = Checkpointer(path: path)
        do {
            pool = try Self.open(path, mustExist: mustExist)
            // Must come first: what another process changes from here on is seen at the first tick.
            lastVersion = Mutex(try pool.writeWithoutTransaction { try Self.version(in: $0) })
            lanes.set(try pool.read { try DestinationState.all(in: $0) })
            lanes.setWithheld(try pool.read { Set(try WithheldPermission.all(in: $0).keys) })
        } catch {
            throw StoreError(error, path: path)
        }
        let writer = SQLiteWriter(
            pool: pool, path: path, lanes: lanes, now: now, commitHealth: commitHealth, health: health, record: record,
            known: knownCategories, media: mediaWaker, clockNotes: clockNotes, checkpointer: checkpointer)
        let start = ContinuousClock.now
        commits = CommitGroup(limit: 512, patience: StoreLimits.patience, delayed: delayed, now: { start + elapsed() })
        {
            (writes) throws(CommitFailure) in try writer.commit(writes)
        }
    }

    /// Seconds that SQLite waits for the lock of another process. A commit may wait behind one other write that waits for
    /// that lock; both together end before ``StoreLimits/patience``.
    static let busyTime: TimeInterval = 7
    private static let start = ContinuousClock.now

    package static let sinceStart: @Sendable () -> Duration = { ContinuousClock.now - start }

    /// Once, before SQLite is used; where somebody else has used it already, it goes on counting.
    private static let countsNoMemory: Void = { _ = sb_sqlite_count_no_memory() }()

    private static func open(_ path: String, mustExist: Bool) throws -> DatabasePool {
        countsNoMemory
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTime)
        configuration.label = "signalbox"
        configuration.maximumReaderCount = 3
        // Checked for every row, they cost inserts dear, and rows that are inserted together a journal of their own.
        configuration.foreignKeysEnabled = false
        // Both mean something only before the first table is made. Pages that become free go back to the file system; of
        // twice the usual size they hold half a dozen events, and a commit is of fewer writes.
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            try db.execute(sql: "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        let isEmpty = mustExist ? try pool.read { try SQLiteSchema.migrator.appliedIdentifiers($0).isEmpty } : false
        if isEmpty { throw StoreError.lost(directory: directory(of: path), reason: QueueLoss.emptied.words) }
        // GRDB sets NORMAL, under which a power cut may take the last commits with it. SQLite's own checkpoints are for
        // writes of which the checkpointer is not told.
        try pool.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA synchronous = FULL;
                    PRAGMA wal_autocheckpoint = \(2 * Checkpointer.longestLog);
                    PRAGMA journal_size_limit = \(Checkpointer.keptLog)
                    """)
        }
        try SQLiteSchema.migrator.migrate(pool)
        return pool
    }

    private static func version(in db: Database) throws -> Int? { try Int.fetchOne(db, sql: "PRAGMA data_version") }

    /// Appends events with all their deliveries. They are durable when it returns. When it throws, nothing was
    /// appended, except for ``StoreError/undecided(after:)``: then the outcome is unknown. `request`: the request that
    /// brought them, if its sender may repeat it.
    @discardableResult
    package func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?
    ) async throws(StoreError) -> AppendResult {
        guard !events.isEmpty || request != nil else { return .appended(duplicates: [:]) }
        if let damage = health.damage { throw damage }
        guard case .appended(let result) = try await commits.write(.append(events, request), hasDeadline: true)
        else {
            preconditionFailure("An append was answered as something else.")
        }
        return result
    }

    /// The same without waiting: calls `done` once, on a thread of the queue, which must not be blocked. `done` gets
    /// the ids of the earlier events that these repeat, by position.
    package func append(
        _ events: [RoutedEvent], whenDone done: @escaping @Sendable (Result<[Int: String], StoreError>) -> Void
    ) {
        guard !events.isEmpty else { return done(.success([:])) }
        if let damage = health.damage { return done(.failure(damage)) }
        commits.submit(.append(events, nil), hasDeadline: true) { result in
            done(
                result.map { output in
                    guard case .appended(.appended(let duplicates)) = output else {
                        preconditionFailure("An append was answered as something else.")
                    }
                    return duplicates
                })
        }
    }

    /// Returns when all writes that were begun before have ended, in whichever way.
    package func finish() async {
        // They end in the order in which they came; how this one does says nothing of the others.
        _ = try? await commits.write(.giveBack([]))
    }

    /// Records how an attempt ended and gives the lease back. Durable when it returns; when it throws, the lease is
    /// still held.
    package func settle(_ settlement: Settlement) async throws(StoreError) {
        if settlement.outcome.namesATime { clockNotes.note(delivery: settlement.lease.delivery) }
        _ = try await commits.write(.settle(settlement))
    }

    /// A write to which there is no answer but that it is durable.
    func commit(_ write: SQLiteWriter.Write) async throws(StoreError) { _ = try await commits.write(write) }

    /// Finds out whether the queue can take events, by how the last commits went and by a small durable write of its own;
    /// throws why it cannot.
    package func probe() async throws(StoreError) {
        if let failure = health.damage ?? commitHealth.recentFailure { throw failure }
        try checkDisk()
        do {
            try await pool.writeWithoutTransaction { db in
                let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                try db.execute(sql: "PRAGMA user_version = \(version &+ 1 & 0xFFFF)")
            }
        } catch {
            throw failure(error)
        }
    }

    /// Throws while a commit takes so long that another write would only wait behind it.
    func checkDisk() throws(StoreError) {
        if let time = commits.commitTime, time >= StoreLimits.longestCommit { throw .stalled(for: time) }
    }

    // MARK: Claiming

    /// Opens a destination for claiming. `isOrdered`: deliveries with equal order keys are given out one after the other.
    /// `wake` is called, from any thread, when there may be something to claim.
    package func openLane(
        _ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void
    ) {
        lanes.open(destination, isOrdered: isOrdered, wake: wake)
    }

    /// Closes a destination again, once nobody claims from it any more and all leases were given back. What is in memory
    /// goes back into the file, so that it is found by whoever opens it next.
    package func closeLane(_ destination: DestinationName) async throws(StoreError) {
        var fresh = lanes.withHandOff { $0.beginClosing(destination) }
        // A commit that is under way may still hand something over; once a later one has ended, none does.
        repeat {
            try await giveBack(fresh)
            fresh = lanes.withHandOff { $0.takeFresh(of: destination) }
        } while !fresh.isEmpty
        lanes.close(destination)
    }

    /// Leases deliveries that are due, at most `limit`; none when there are none, or while the destination is paused or
    /// disabled. From memory where possible.
    package func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        guard limit > 0, lanes.state(of: destination) == nil else { return [] }
        return try await lanes.claim(from: destination, upTo: limit) { () throws(StoreError) in
            try await followClock()
            let search = try await searchAroundDamage(destination, upTo: limit)
            let claim = SQLiteWriter.Write.claim(destination, upTo: limit, of: search)
            guard case .claimed(let found) = try await commits.write(claim) else {
                preconditionFailure("A claim was answered as something else.")
            }
            return found
        }
    }

    /// Looks for deliveries that have become due, and for changes by other processes; to be called every so often.
    package func tick() async throws(StoreError) {
        let version: Int?
        do {
            version = try await pool.writeWithoutTransaction { try Self.version(in: $0) }
        } catch {
            throw failure(error)
        }
        let isChanged = lastVersion.withLock { $0 != version }
        let now = now()
        if isChanged {
            lanes.wake(lanes.withHandOff { $0.wake(at: now, all: true) })
            try await readDestinationStates()
            lanes.setWithheld(Set(try await withheldPermissions().keys))
            mediaWaker.wake()
        }
        // Only now: what failed is seen again at the next tick.
        lastVersion.withLock { $0 = version }
        try await followClock()
        try await giveBackIdle()
        lanes.wake(lanes.withHandOff { $0.wake(at: now, all: false) })
        try await expire(by: now)
    }

    /// Has every lane look at the file again, and who downloads media.
    package func lookAgain() {
        let now = now()
        lanes.wake(lanes.withHandOff { $0.wake(at: now, all: true) })
        mediaWaker.wake()
    }

    /// Ends waiting deliveries whose time is over, however long they would wait for their next attempt.
    private func expire(by now: Date) async throws(StoreError) {
        let overdue: [SQLiteWriter.Overdue]
        do {
            overdue = try await pool.read { db in
                try StoredRow.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT id, destination FROM deliveries
                            WHERE state = 'waiting' AND not_after IS NOT NULL AND not_after <= ? ORDER BY not_after
                            LIMIT 1000
                            """), arguments: [now.milliseconds]
                ).map { row in
                    try SQLiteWriter.Overdue(delivery: row.number(0), destination: DestinationName(row.text(1)))
                }
            }
        } catch {
            throw failure(error)
        }
        let free = lanes.withHandOff { handOff in
            overdue.filter { !handOff.isHeld($0.delivery, of: $0.destination) }
        }
        if !free.isEmpty { _ = try await commits.write(.expire(free)) }
    }
}

extension Date {
    /// Milliseconds since 1970, rounded down. A date that the file cannot hold becomes the nearest one that it can.
    var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1000).rounded(.down)
        let limits = StoredRow.numbers
        return exact.isNaN ? 0 : Int64(min(max(exact, Double(limits.lowerBound)), Double(limits.upperBound)))
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
