import Dispatch
import GRDB
import GRDBSQLite
package import SignalboxStore
import Synchronization

/// Copies commits from the write-ahead log into the database next to the writer.
///
/// SQLite itself makes checkpoints on the thread that commits, which delays writes. Here the writer makes one only
/// when the log is long, because the log can start anew only after a checkpoint without concurrent writes. A class
/// because it owns a connection and a queue. See sqlite.org/wal.html, "Checkpointing": a passive checkpoint waits for
/// no reader and no writer.
final class Checkpointer: Sendable {
    /// Pages that are written between two checkpoints. With pages of 8 KiB, about 8 MB.
    private static let step = 1000
    /// Pages in the log at which the writer makes a checkpoint itself. At twice as many it waits for one in progress.
    /// With pages of 8 KiB, about 32 MB and 64 MB.
    static let longestLog = 4000
    /// Bytes of the log's file that are kept when the log starts anew. SQLite's `journal_size_limit`: an overwritten
    /// log is faster than a new one.
    static let keptLog = 128 * 1024 * 1024

    /// The thread of the next checkpoint.
    enum Step {
        /// Too few pages were written, or a checkpoint is in progress.
        case none
        /// Another thread makes it, next to the writer.
        case aside
        /// The writer makes it, on its own thread.
        case here
        /// The writer makes it after the one in progress.
        case afterTheOther
    }

    /// Decides when to make a checkpoint, and where. A pure state machine: it has no clock and no file, so tests drive
    /// it directly. All counts are in pages.
    struct State {
        /// Pages written since the last checkpoint began.
        private var written = 0
        /// Pages in the log, or somewhat more.
        private var logged = 0
        /// From ``begin()`` to ``end(_:)``.
        private var isRunning = false

        /// Begins a checkpoint if it is time for one. `pages`: written by the last commit. The caller makes the
        /// checkpoint that is returned, and then calls ``end(_:)``.
        mutating func step(after pages: Int) -> Step {
            written += pages
            logged += pages
            // Only one at once: each would find the other in progress, and the log would keep growing.
            if isRunning { return logged >= 2 * Checkpointer.longestLog ? .afterTheOther : .none }
            let isLong = logged >= Checkpointer.longestLog
            guard isLong || written >= Checkpointer.step else { return .none }
            begin()
            return isLong ? .here : .aside
        }

        /// A checkpoint starts: it covers all pages that were written so far.
        mutating func begin() { (written, isRunning) = (0, true) }

        /// `result`: pages in the log when the checkpoint began, and those that it copied; nil after a failure. After
        /// a failure the log counts as long as before, so the next writes try again.
        mutating func end(_ result: (pages: Int, copied: Int)?) {
            isRunning = false
            guard let (pages, copied) = result else { return }
            // The log starts anew once all of it is copied.
            logged = pages == copied && written == 0 ? 0 : pages + written
        }
    }

    private let state = Mutex(State())
    // A queue and not a task: SQLite's calls block, which Swift's pool of threads must not.
    private let queue = DispatchQueue(label: "signalbox.checkpoints")
    /// Opened by the first checkpoint on the queue.
    private let connection: Mutex<DatabaseQueue?> = Mutex(nil)
    private let path: String

    /// `path`: the path of `queue.db`. Opens no connection.
    init(path: String) { self.path = path }

    /// Called by the writer after each commit. Blocks the writer only for a checkpoint that must run here. Ignores
    /// failures: commits report a failing disk. `db`: the writer's connection, outside of a transaction. Reads two
    /// numbers unless it is time for a checkpoint.
    func committed(by db: Database) {
        var (pages, highest): (CInt, CInt) = (0, 0)
        // Resets the count, so that the next call counts one commit.
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        switch state.withLock({ $0.step(after: Int(pages)) }) {
        case .none: return
        case .aside: return queue.async { self.run() }
        case .here: break
        case .afterTheOther:
            waitUntilIdle()
            state.withLock { $0.begin() }
        }
        end(try? db.checkpoint(.passive))
    }

    /// Makes a checkpoint next to the writer, after one in progress, and returns once it has ended. SQLite shortens the
    /// database file only when a checkpoint has copied the whole log. Ignores failures; see ``committed(by:)``.
    func copyLog() async {
        await queue.run { [self] in
            state.withLock { $0.begin() }
            run()
        }
    }

    /// Returns once no checkpoint is in progress or scheduled. Blocks the calling thread. For tests, and for the
    /// writer when the log grows too long.
    func waitUntilIdle() { queue.sync {} }

    /// Opens a connection of its own at the first call and keeps it. Runs on the queue of checkpoints. Ignores
    /// errors: a checkpoint that fails loses no data.
    private func run() {
        end(
            try? connection.withLock { connection in
                let opened = try connection ?? DatabaseQueue(path: path)
                connection = opened
                return try opened.writeWithoutTransaction { try $0.checkpoint(.passive) }
            })
    }

    /// A checkpoint that failed is made again after the next writes. Faults of the disk are reported by commits.
    private func end(_ result: (walFrameCount: Int, checkpointedFrameCount: Int)?) {
        state.withLock { $0.end(result.map { ($0.walFrameCount, $0.checkpointedFrameCount) }) }
    }
}

/// The checkpoint at the end of the process.
extension SQLiteQueue {
    /// Copies as much of the write-ahead log as readers permit, and does not wait for them. A reader that is still
    /// active keeps the rest in the log, which loses no data. Empties the log if no reader needs it: the next start
    /// would read all of it.
    package func checkpoint() async throws(StoreError) {
        await recordTime(atOnce: true)
        do {
            try await file.pool.writeWithoutTransaction { db in
                let log = try db.checkpoint(.passive)
                guard log.walFrameCount > 0, log.walFrameCount == log.checkpointedFrameCount else { return }
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                defer { sqlite3_busy_timeout(db.sqliteConnection, CInt(SQLiteFile.busyTime * 1000)) }
                do { _ = try db.checkpoint(.truncate) } catch let error as DatabaseError {
                    // A reader needs the log, which keeps its length.
                    guard error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED else { throw error }
                }
            }
        } catch { throw file.failure(error) }
    }
}
