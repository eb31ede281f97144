import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Carries what was committed from the write-ahead log into the database while others go on writing.
///
/// SQLite would have the thread that commits do it, which then writes nothing for as long as that takes. Here it does so
/// only when the log has grown long all the same, for only while nobody writes can all of it be carried over, and the log
/// begin anew. A class because it has a connection and a queue of its own.
final class Checkpointer: Sendable {
    /// Pages that are written between two checkpoints.
    private static let step = 1000
    /// Pages in the log at which the writer makes a checkpoint of its own; at twice as many it waits for one that is under way.
    static let longestLog = 4000
    /// Bytes of the log's file that are kept for what comes, when the log begins anew.
    static let keptLog = 128 * 1024 * 1024

    /// When there is a checkpoint to make, and by whom.
    struct State {
        /// Pages written since the last checkpoint began.
        private var written = 0
        /// Pages in the log, or somewhat more.
        private var logged = 0
        private var isRunning = false

        /// Begins a checkpoint where it is time for one.
        mutating func step(after pages: Int) -> Step {
            written += pages
            logged += pages
            // Never both at once: each would find the other at it, and the log would grow on.
            if isRunning { return logged >= 2 * Checkpointer.longestLog ? .afterTheOther : .none }
            let isLong = logged >= Checkpointer.longestLog
            guard isLong || written >= Checkpointer.step else { return .none }
            begin()
            return isLong ? .here : .aside
        }

        mutating func begin() {
            written = 0
            isRunning = true
        }

        /// `result`: pages that were in the log when the checkpoint began, and those that are carried over; nil where it
        /// failed.
        mutating func end(_ result: (pages: Int, carried: Int)?) {
            isRunning = false
            guard let (pages, carried) = result else { return }
            // Only a log of which nothing is left to carry over begins anew.
            logged = pages == carried && written == 0 ? 0 : pages + written
        }
    }

    private let state = Mutex(State())
    // A queue and not a task: SQLite's calls block, which Swift's pool of threads must not.
    private let queue = DispatchQueue(label: "signalbox.checkpoints")
    private let connection: Mutex<DatabaseQueue?> = Mutex(nil)
    private let path: String

    init(path: String) { self.path = path }

    enum Step {
        case none
        /// Beside the writer.
        case aside
        /// By the writer.
        case here
        /// By the writer, once the one that is under way has ended.
        case afterTheOther
    }

    /// To be called by the writer after it has committed.
    func committed(by db: Database) {
        let pages = Self.pagesWritten(by: db)
        switch state.withLock({ $0.step(after: pages) }) {
        case .none: return
        case .aside: return queue.async { self.run() }
        case .here: break
        case .afterTheOther:
            waitUntilIdle()
            state.withLock { $0.begin() }
        }
        let result = try? db.checkpoint(.passive)
        state.withLock { $0.end(result.map { ($0.walFrameCount, $0.checkpointedFrameCount) }) }
    }

    /// Returns once no checkpoint is under way or asked for.
    func waitUntilIdle() { queue.sync {} }

    private func run() {
        // What fails here is tried again with what is written next; what ails the disk, commits say.
        let result = try? connection.withLock { connection in
            let opened = try connection ?? DatabaseQueue(path: path)
            connection = opened
            return try opened.writeWithoutTransaction { try $0.checkpoint(.passive) }
        }
        state.withLock { $0.end(result.map { ($0.walFrameCount, $0.checkpointedFrameCount) }) }
    }

    /// Since the last call.
    private static func pagesWritten(by db: Database) -> Int {
        var (pages, most): (CInt, CInt) = (0, 0)
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1)
        return Int(pages)
    }
}
