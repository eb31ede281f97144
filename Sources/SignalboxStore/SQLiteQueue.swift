package import Foundation
import GRDB
package import SignalboxModel
import Synchronization

/// The durable queue in one SQLite file: WAL mode, `synchronous=FULL`, commits shared by all who write at the time.
///
/// What `append` has returned for is on disk. A class because it is shared state: the file, and who holds which lease.
package final class SQLiteQueue: Sendable {
    let pool: DatabasePool
    let path: String
    private let now: @Sendable () -> Date
    private let lanes = Lanes()
    private let commits: CommitGroup<SQLiteWriter.Write>
    private let health = CommitHealth()
    private let lastVersion = Mutex<Int?>(nil)

    /// Opens or makes the queue in a data directory. `now`: the clock that decides what is due.
    package init(in directory: String, now: @escaping @Sendable () -> Date = { Date() }) throws(StoreError) {
        path = directory + "/queue.db"
        self.now = now
        do {
            pool = try Self.open(path)
        } catch {
            throw StoreError(error, path: path)
        }
        let writer = SQLiteWriter(pool: pool, path: path, lanes: lanes, now: now, health: health)
        commits = CommitGroup(limit: 512) { (writes) throws(StoreError) in try writer.commit(writes) }
    }

    private static func open(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.label = "signalbox"
        configuration.maximumReaderCount = 3
        let pool = try DatabasePool(path: path, configuration: configuration)
        // GRDB sets NORMAL, under which a power cut may take the last commits with it.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try SQLiteSchema.migrator.migrate(pool)
        return pool
    }

    /// Opens the queue of a gateway that may be running; fails when there is none.
    package static func existing(in directory: String) throws(StoreError) -> SQLiteQueue {
        guard FileManager.default.fileExists(atPath: directory + "/queue.db") else {
            throw .missing(path: directory)
        }
        return try SQLiteQueue(in: directory)
    }

    /// Takes events with all their deliveries. Durable when it returns; when it throws, nothing was taken.
    package func append(_ events: [RoutedEvent]) async throws(StoreError) {
        guard !events.isEmpty else { return }
        try await commits.write(.append(events))
    }

    /// Records how an attempt ended and gives the lease back. Durable when it returns; when it throws, the lease is
    /// still held.
    package func settle(_ lease: Lease, _ outcome: Outcome) async throws(StoreError) {
        try await commits.write(.settle(lease, outcome))
    }

    /// Finds out whether the queue can take events, by how the last commits went and by a small durable write of its own;
    /// throws why it cannot.
    package func probe() async throws(StoreError) {
        if let failure = health.recentFailure { throw failure }
        do {
            try await pool.writeWithoutTransaction { db in
                let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                try db.execute(sql: "PRAGMA user_version = \(version &+ 1 & 0xFFFF)")
            }
        } catch {
            throw StoreError(error, path: path)
        }
    }

    // MARK: Claiming

    /// Opens a destination for claiming. `wake` is called, from any thread, when there may be something to claim.
    package func openLane(_ destination: DestinationName, wake: @escaping @Sendable () -> Void) {
        lanes.open(destination, wake: wake)
    }

    /// Leases deliveries that are due, at most `limit`; none when there are none. From memory where possible.
    package func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        switch lanes.withHandOff({ $0.claim(from: destination, upTo: limit) }) {
        case .leases(let leases): return leases
        case .read(let held):
            let found = try await readDue(destination, upTo: limit, excluding: held)
            // The file's turn, but there was nothing: then it is the turn of what is in memory.
            return found.isEmpty ? try await claim(from: destination, upTo: limit) : found
        }
    }

    private func readDue(
        _ destination: DestinationName, upTo limit: Int, excluding held: Set<Int64>
    ) async throws(StoreError) -> [Lease] {
        let now = now().milliseconds
        do {
            let (found, isWhole, nextDue) = try await pool.read { db in
                let (ids, isWhole) = try Self.due(destination, by: now, upTo: limit, excluding: held, in: db)
                let leases = try ids.compactMap { try Self.lease($0, destination, in: db) }
                return (leases, isWhole, try Self.nextDue(destination, after: now, in: db))
            }
            return lanes.withHandOff { handOff in
                handOff.finishReading(found, of: destination, isWhole: isWhole, nextDue: nextDue)
            }
        } catch {
            lanes.withHandOff { $0.abandonReading(of: destination) }
            throw StoreError(error, path: path)
        }
    }

    /// Looks for deliveries that have become due, and for changes by other processes; to be called every so often.
    package func tick() async throws(StoreError) {
        let version: Int?
        do {
            version = try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA data_version") }
        } catch {
            throw StoreError(error, path: path)
        }
        let isChanged = lastVersion.withLock { last in
            defer { last = version }
            return last != nil && last != version
        }
        let now = now()
        lanes.wake(lanes.withHandOff { $0.wake(at: now, all: isChanged) })
    }
}

extension Date {
    /// Since 1970, rounded down.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded(.down)) }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
