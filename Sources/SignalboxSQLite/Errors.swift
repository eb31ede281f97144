import GRDB
import SignalboxStore

/// The words reach operators, and senders unless they name a path. Result codes are those of sqlite.org/rescode.html.
extension StoreError {
    /// Converts an error of SQLite or GRDB. `path`: the file of the queue, for the message. Never returns a bare code.
    init(_ error: any Error, path: String) {
        switch error {
        case let error as DatabaseError: self.init(sqlite: error, path: path)
        case let error as StoreError: self = error
        case let error as DamagedValue: self = .damaged(path: path, reason: error.reason)
        case is RowDecodingError: self = .damaged(path: path, reason: "a value has another type than its column")
        default: self = .unavailable(reason: String(describing: error))
        }
    }

    /// Our statements are fixed, so one that names a missing table or reads an oversized value met damage. Everything
    /// else is unavailable: the same call may succeed later.
    private init(sqlite error: DatabaseError, path: String) {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_TOOBIG:
            self = .damaged(path: path, reason: error.message ?? "damaged")
        case .SQLITE_ERROR where error.message?.hasPrefix("no such ") == true:
            self = .damaged(path: path, reason: error.message ?? "damaged")
        case .SQLITE_FULL: self = .unavailable(reason: "the disk is full")
        case .SQLITE_READONLY: self = .unavailable(reason: "the file system or the file is read-only")
        // SQLite names neither the file nor the reason.
        case .SQLITE_CANTOPEN:
            self = .unavailable(reason: SQLiteQueue.denial(of: path) ?? "\(path) cannot be opened")
        case .SQLITE_IOERR:
            // SQLite reports a full disk as an I/O error if its auxiliary files do not fit.
            let number = error.extendedResultCode.rawValue
            self = .unavailable(reason: "disk I/O error (\(number)): the disk may be full, or failing")
        default: self = .unavailable(reason: error.message ?? "SQLite's error \(error.extendedResultCode.rawValue)")
        }
    }
}

/// Decides whether the writes of a failed group are tried alone. See ``CommitParts`` for the way in which a group is
/// divided.
extension CommitFailure {
    /// Errors of the disk, of locks and of the file as a whole fail every write of the group alike.
    init(_ error: any Error, path: String) {
        let mayBeOfOneWrite: Bool
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL?, .SQLITE_IOERR?, .SQLITE_READONLY?, .SQLITE_CANTOPEN?, .SQLITE_NOTADB?, .SQLITE_BUSY?,
            .SQLITE_LOCKED?, .SQLITE_PROTOCOL?, .SQLITE_NOMEM?, .SQLITE_PERM?, .SQLITE_AUTH?, .SQLITE_NOLFS?,
            .SQLITE_INTERRUPT?, .SQLITE_ABORT?, .SQLITE_SCHEMA?, .SQLITE_MISUSE?:
            mayBeOfOneWrite = false
        // For example a violated constraint, a value that is too large, or a damaged page that the others do not
        // touch.
        default: mayBeOfOneWrite = true
        }
        self.init(reason: StoreError(error, path: path), mayBeOfOneWrite: mayBeOfOneWrite)
    }
}
