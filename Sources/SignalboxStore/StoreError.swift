import GRDB

/// Why the queue could not do what it was asked.
package enum StoreError: Error, Sendable, Equatable {
    /// The data directory cannot be made, read or written; with path and reason.
    case directory(path: String, reason: String)
    /// Another process works on this data directory; with what is known of it.
    case inUse(path: String, by: String?)
    /// There is no queue here yet.
    case missing(path: String)
    /// The queue of this directory is gone, or the file is behind what was accepted.
    case lost(directory: String, reason: String)
    /// The directory has a `token.key` but no queue: it is new and the key was put there first, or its queue is gone.
    case keyWithoutQueue(directory: String)
    /// The database file is no database or is damaged.
    case damaged(path: String, reason: String)
    /// Nothing was written; the same call may succeed once there is room or the disk is back.
    case unavailable(reason: String)
    /// The write was not begun: an earlier commit has taken so long that no other is begun.
    case stalled(for: Duration)
    /// The commit did not finish in time. It is unknown whether the write is or will become durable.
    case undecided(after: Duration)
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .directory(let path, let reason):
            "The data directory \(path) cannot be used: \(reason). Choose another with --data-dir."
        case .inUse(let path, let owner):
            "The data directory \(path) is in use by another signalbox\(owner.map { " (process \($0))" } ?? ""). "
                + "Stop it, or choose another with --data-dir."
        case .missing(let path): "There is no queue in \(path). Name the gateway's directory with --data-dir."
        case .lost(let directory, let reason):
            "The queue in \(directory) lost events: \(reason). Put the missing file or a backup back. To go on without "
                + "the lost events, start once with: signalbox serve --accept-queue-loss."
        case .keyWithoutQueue(let directory):
            "The data directory \(directory) has no queue: token.key is there but queue.db is not. If this is a new "
                + "directory whose token.key was put there on purpose, start once with: signalbox serve "
                + "--accept-queue-loss. Otherwise the queue was removed: put queue.db or a backup of it back."
        case .damaged(let path, let reason):
            "The queue \(path) cannot be read: \(reason). Restore it from a backup, or move it away to start anew."
        case .unavailable(let reason): "The queue cannot be written: \(reason)."
        case .stalled(let time):
            "The queue cannot be written: the disk has not completed a commit for \(time.components.seconds) s."
        case .undecided(let time):
            "The disk has not completed the commit within \(time.components.seconds) s: its outcome is not known."
        }
    }
}

extension StoreError {
    /// SQLite's error in our terms.
    init(_ error: any Error, path: String) {
        switch error {
        case let error as DatabaseError: self.init(sqlite: error, path: path)
        case let error as StoreError: self = error
        case let error as DamagedValue: self = .damaged(path: path, reason: error.reason)
        case is RowDecodingError: self = .damaged(path: path, reason: "a value has another type than its column")
        default: self = .unavailable(reason: String(describing: error))
        }
    }

    /// Our statements are fixed, so one that names a missing table or reads an oversized value met damage.
    private init(sqlite error: DatabaseError, path: String) {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_TOOBIG:
            self = .damaged(path: path, reason: error.message ?? "damaged")
        case .SQLITE_ERROR where error.message?.hasPrefix("no such ") == true:
            self = .damaged(path: path, reason: error.message ?? "damaged")
        case .SQLITE_FULL: self = .unavailable(reason: "the disk is full")
        case .SQLITE_READONLY: self = .unavailable(reason: "the file system or the file is read-only")
        case .SQLITE_CANTOPEN: self = .unavailable(reason: "\(path) cannot be opened")
        case .SQLITE_IOERR:
            // A disk with no room left for what is not data is told like one that fails.
            let number = error.extendedResultCode.rawValue
            self = .unavailable(reason: "disk I/O error (\(number)): the disk may be full, or failing")
        default: self = .unavailable(reason: error.message ?? "SQLite's error \(error.extendedResultCode.rawValue)")
        }
    }
}
