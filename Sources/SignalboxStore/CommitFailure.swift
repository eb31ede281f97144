import GRDB

/// Why a commit failed, and whether the same writes may succeed without one of them.
struct CommitFailure: Error {
    let reason: StoreError
    /// False when the whole file is affected, for example by a full disk: then every other write would fail too.
    let mayBeOfOneWrite: Bool
}

extension CommitFailure {
    init(_ error: any Error, path: String) {
        reason = StoreError(error, path: path)
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL?, .SQLITE_IOERR?, .SQLITE_READONLY?, .SQLITE_CANTOPEN?, .SQLITE_NOTADB?, .SQLITE_BUSY?,
            .SQLITE_LOCKED?, .SQLITE_PROTOCOL?, .SQLITE_NOMEM?, .SQLITE_PERM?, .SQLITE_AUTH?, .SQLITE_NOLFS?,
            .SQLITE_INTERRUPT?, .SQLITE_ABORT?, .SQLITE_SCHEMA?, .SQLITE_MISUSE?:
            mayBeOfOneWrite = false
        // For example a violated constraint, a value that is too large, or a damaged page that the others do not
        // touch.
        default: mayBeOfOneWrite = true
        }
    }
}
