internal import CSQLite
import Foundation
import GRDB
import GRDBSQLite
import SignalboxStore
import Synchronization

/// The file of a queue, with the state that its readers and its writer share. WAL mode, `synchronous=FULL`, one
/// connection that writes. A class because it owns the connections. Safe for concurrent use: the pool serialises
/// writers, and each other part locks its own state. Each process that opens the file has one; the file's own locks
/// order their writes.
final class SQLiteFile: Sendable {
    /// One writing connection and up to three reading ones.
    let pool: DatabasePool
    /// The path of `queue.db`, for error messages.
    let path: String
    /// The wall clock, with the jump since the last committed transaction. Shared by the readers and the writer.
    let clock: StoreClock
    /// The leases that are held in memory, and the callbacks that wake destinations and downloads.
    let lanes = Lanes()
    /// Damage and failed commits, as readiness reports them.
    let health = StoreHealth()
    /// Written after each commit that appends, once ``SQLiteQueue/init(of:acceptsLoss:)`` has begun it.
    let record = QueueRecordKeeper()
    /// Categories that need no write for now.
    let categories = KnownCategories()
    /// Called with the in-app messages that a commit changed; nil until it is set.
    let inAppObserver = Mutex<(@Sendable ([StoredInAppMessage]) -> Void)?>(nil)
    /// Called after each committed transaction.
    let checkpointer: Checkpointer
    /// Names this process in the leases that it gives out. A settlement with the number of another process has no
    /// effect.
    let holder = UInt64.random(in: 1 ... .max)
    /// The write-ahead log that SQLite keeps open; nil until it is found.
    private let log: Mutex<FileNumber?>

    /// Seconds that SQLite waits for the lock of another process. A commit may wait behind one other write that waits
    /// for that lock; both together end before ``StoreLimits/patience``.
    static let busyTime: TimeInterval = 7
    /// The same for a command next to a gateway. It is longer, because no request waits for a command. SQLite polls for
    /// the lock, and a busy gateway on a slow disk releases it only for a short time.
    static let busyTimeOfCommands: TimeInterval = 60

    /// The most kilobytes of pages that the writer keeps in memory.
    private static let cacheKB = 8 * 1024

    /// Opens or creates the file. `mustExist`: throws for a file without a queue instead of creating one. Throws
    /// ``StoreError`` for a directory that cannot be written, a file that is not a database, and a migration that
    /// fails. `migrates`: applies pending migrations; otherwise throws ``StoreError/otherSchema(path:isNewer:)`` for
    /// them, and ``StoreError/missing(path:)`` for a file without tables.
    init(in directory: String, mustExist: Bool, migrates: Bool, clock: StoreClock) throws(StoreError) {
        path = directory + "/queue.db"
        self.clock = clock
        checkpointer = Checkpointer(path: path)
        do {
            pool = try Self.open(path, mustExist: mustExist, migrates: migrates)
        } catch { throw StoreError(error, path: path) }
        log = Mutex(FileNumber(of: path + "-wal"))
    }

    /// The data directory of the file.
    var directory: String { Self.directory(of: path) }

    /// `path`: ends with `/queue.db`.
    private static func directory(of path: String) -> String { String(path.dropLast("/queue.db".count)) }

    /// Must run before SQLite is used. When another component has used it, SQLite keeps counting its memory.
    static let countsNoMemory: Void = { _ = sb_sqlite_count_no_memory() }()

    /// Whether SQLite has a directory for temporary files.
    private static let hasTemporaryDirectory = Mutex(false)

    /// Makes SQLite create its temporary files in the data directory of the first queue of the process. Sorting and
    /// large changes need them. Otherwise they would be in /var/tmp or /tmp, which may be full or read-only although
    /// the data directory is not. SQLite removes their names at once. `SQLITE_TMPDIR` names another directory.
    private static func setTemporaryDirectory(_ directory: String) {
        hasTemporaryDirectory.withLock { isSet in
            if !isSet, getenv("SQLITE_TMPDIR") == nil { sb_sqlite_set_temporary_directory(directory) }
            isSet = true
        }
    }

    /// With `migrates`, applies all pending migrations. An error leaves the file as the last completed migration made
    /// it. `synchronous=FULL` syncs the log at each commit (sqlite.org/pragma.html), so a commit survives a power cut.
    private static func open(_ path: String, mustExist: Bool, migrates: Bool) throws -> DatabasePool {
        countsNoMemory
        setTemporaryDirectory(directory(of: path))
        var configuration = Configuration()
        configuration.busyMode = .timeout(migrates ? busyTime : busyTimeOfCommands)
        configuration.label = "signalbox"
        configuration.maximumReaderCount = 3
        // Foreign-key checks slow down every insert and force a statement journal on bulk inserts.
        configuration.foreignKeysEnabled = false
        // Both settings take effect only before the first table is created. Free pages go back to the file system. A
        // page of twice the usual size holds half a dozen events, so a commit writes fewer pages. In a file that has
        // pages, the second one is a write: on a full disk, it would fail even for a command that only reads.
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly, try db.number("PRAGMA page_count") == 0 else { return }
            try db.execute(sql: "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL")
        }
        // SQLite would create a file that every user may read, in a directory that permits it. The log and the shared
        // memory get the mode of the file. Only a new file: closing one that SQLite uses drops SQLite's locks on it
        // (sqlite.org/howtocorrupt.html, 2.2). SQLite reports a failure.
        let file = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
        let pool = try DatabasePool(path: path, configuration: configuration)
        let (isEmpty, isNewer, isComplete) = try pool.read { db in
            let migrator = SQLiteSchema.migrator
            return (
                try migrator.appliedIdentifiers(db).isEmpty, try migrator.hasBeenSuperseded(db),
                try migrator.hasCompletedMigrations(db)
            )
        }
        if mustExist, isEmpty { throw QueueLoss.emptied.error(in: directory(of: path)) }
        if isNewer { throw StoreError.otherSchema(path: path, isNewer: true) }
        if !migrates, isEmpty { throw StoreError.missing(path: directory(of: path)) }
        if !migrates, !isComplete { throw StoreError.otherSchema(path: path, isNewer: false) }
        // GRDB sets NORMAL, under which a power cut can lose the last commits. SQLite's own checkpoints are for writes
        // that the checkpointer does not see. A group of in-app decisions changes a thousand pages, which SQLite's
        // usual 2 MB would write to the log several times. For a CHECK with a list, SQLite fills and clears a temporary
        // table for every inserted row. Only the writer skips them: an audit still reports a row that violates one.
        try pool.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA synchronous = FULL;
                    PRAGMA ignore_check_constraints = ON;
                    PRAGMA cache_size = -\(cacheKB);
                    PRAGMA wal_autocheckpoint = \(2 * Checkpointer.longestLog);
                    PRAGMA journal_size_limit = \(Checkpointer.keptLog)
                    """)
        }
        if !isComplete { try SQLiteSchema.migrator.migrate(pool) }
        return pool
    }

    // MARK: Transactions

    /// Runs `body` in a read transaction, which sees one snapshot and does not block the writer. Throws
    /// ``StoreError``, and records damage. Up to three reads run at once; others wait for a connection, off Swift's
    /// threads.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do { return try await pool.read(body) } catch { throw failure(error) }
    }

    /// Performs a write transaction on the writer's connection. `body` receives its time. Before `body`, all waits
    /// follow a clock that was set, so that no transaction mixes times of two clocks. Takes the write lock at the
    /// start (`BEGIN IMMEDIATE`) and waits up to ``busyTime`` for another process, next to the owner up to
    /// ``busyTimeOfCommands``. Rolls back when `body` throws, and rethrows the error. After the commit it makes a
    /// checkpoint if it is time for one, and wakes all lanes after a jump of the clock.
    func transaction<T>(in db: Database, _ body: (Date) throws -> T) throws -> T {
        let time = clock.read()
        var isMoved = false
        var result: T?
        do {
            try db.inTransaction(.immediate) {
                if let jump = time.jump {
                    try Waits.move(by: jump, at: time.now, in: db)
                    // Otherwise the next owner would move them again.
                    try db.correct(time: time.now)
                }
                isMoved = true
                result = try body(time.now)
                return .commit
            }
        } catch {
            // Waits that cannot be read stay as they are; otherwise no transaction would ever succeed again.
            if !isMoved, case .damaged = StoreError(error, path: path) { clock.follow(time) }
            throw error
        }
        clock.follow(time)
        checkpointer.committed(by: db)
        if time.jump != nil { lanes.wakeAll(at: time.now) }
        guard let result else { preconditionFailure("A committed transaction has no result.") }
        return result
    }

    /// Throws ``StoreError/unavailable(reason:)`` if the open file or its log is no longer at its path, because it was
    /// removed, moved or replaced. No later process would find a write to it (sqlite.org/howtocorrupt.html, 4.2). `db`:
    /// any connection to the file. Costs two calls of `stat`.
    func requirePlace(of db: Database) throws {
        var hasMoved: CInt = 0
        let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        if code == SQLITE_OK, hasMoved != 0 { throw Self.moved("queue.db") }
        // SQLITE_FCNTL_HAS_MOVED does not check the log. SQLite uses the same log as long as the file is open.
        let found = FileNumber(of: path + "-wal")
        let isInPlace = log.withLock { log in
            if log == nil { log = found }
            return log == found
        }
        if !isInPlace { throw Self.moved("queue.db-wal") }
    }

    private static func moved(_ name: String) -> StoreError {
        .unavailable(reason: "\(name) was removed, moved or replaced while the gateway was using it")
    }

    /// Converts an error of SQLite. Remembers damage. From then on ``StoreHealth/damage`` rejects new events. Call it
    /// for every error of the file, so that readiness and appends know of damage.
    func failure(_ error: any Error) -> StoreError {
        let reason = StoreError(error, path: path)
        health.recordDamage(reason)
        return reason
    }
}

/// Identifies a file independently of its path.
private struct FileNumber: Equatable {
    let device: dev_t
    let number: ino_t

    /// Nil if no file is at the path.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}
