import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Carries what was committed from the write-ahead log into the database while others go on writing.
///
/// SQLite would have the thread that commits do it, which then writes nothing for as long as that takes: at full load a
/// fifth of its time. It still does so where the log has grown to ``longestLog`` all the same, for only a writer that
/// waits lets the log begin anew. A class because it has a connection and a queue of its own.
final class Checkpointer: Sendable {
    /// Pages that are written between two checkpoints.
    private static let step = 1000
    /// Pages in the log at which the writer waits for a checkpoint of its own.
    static let longestLog = 4000

    private struct State {
        /// Pages written since the last checkpoint began.
        var written = 0
        var isRunning = false
    }

    private let state = Mutex(State())
    // A queue and not a task: SQLite's calls block, which Swift's pool of threads must not.
    private let queue = DispatchQueue(label: "signalbox.checkpoints")
    private let connection: Mutex<DatabaseQueue?> = Mutex(nil)
    private let path: String

    init(path: String) { self.path = path }

    /// To be called by the writer after it has committed.
    func committed(by db: Database) {
        var (written, most): (CInt, CInt) = (0, 0)
        // Counts since the last call.
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &written, &most, 1)
        let pages = Int(written)
        let starts = state.withLock { state in
            state.written += pages
            guard state.written >= Self.step, !state.isRunning else { return false }
            state = State(isRunning: true)
            return true
        }
        if starts { queue.async { self.run() } }
    }

    /// Returns once no checkpoint is under way or asked for.
    func waitUntilIdle() { queue.sync {} }

    private func run() {
        defer { state.withLock { $0.isRunning = false } }
        // What fails here is left to the writer's own checkpoint; what ails the disk, commits say.
        try? connection.withLock { connection in
            let opened = try connection ?? DatabaseQueue(path: path)
            connection = opened
            try opened.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        }
    }
}
