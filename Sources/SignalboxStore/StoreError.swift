/// The failure of an operation on the queue.
@usableFromInline package enum StoreError: Error, Sendable, Equatable {
    /// The data directory cannot be made, read or written; with path and reason.
    case directory(path: String, reason: String)
    /// Another process uses this data directory; `by` names it, if known.
    case inUse(path: String, by: String?)
    /// There is no queue here yet.
    case missing(path: String)
    /// The queue of this directory is gone, or the file lacks accepted events.
    case lost(directory: String, reason: String)
    /// The directory has a `token.key` but no queue: it is new and the key was put there first, or its queue is gone.
    case keyWithoutQueue(directory: String)
    /// Another version of signalbox made the tables of the file. `isNewer`: a newer one.
    case otherSchema(path: String, isNewer: Bool)
    /// The file is not a database, or is damaged.
    case damaged(path: String, reason: String)
    /// The database cannot be reached now; with a clause that names it, the reason and a remedy. The same call may
    /// succeed later.
    case unreachable(reason: String)
    /// The database refuses this gateway until an operator changes something; two clauses, the reason and the remedy.
    case refused(reason: String, remedy: String)
    /// The tables of a database are of another version. `isNewer`: this version may no longer write them; otherwise
    /// they lack a migration that this process does not apply.
    case otherTables(place: String, isNewer: Bool)
    /// The write or the read failed. The same call may succeed once there is room or the disk is back.
    case unavailable(reason: String)
    /// The write was not begun: an earlier commit has taken so long that no other is begun.
    case stalled(for: Duration)
    /// The commit did not finish in time. It is unknown whether the write is or will become durable.
    case undecided(after: Duration)
}

extension StoreError {
    /// Whether the database cannot be reached now.
    package var isUnreachable: Bool { if case .unreachable = self { true } else { false } }

    /// Why a database cannot be used now; nil for an error that an operator has to remedy. The same call may succeed
    /// later.
    package var temporaryReason: String? {
        switch self {
        case .unreachable(let reason), .unavailable(let reason): reason
        case .stalled, .undecided: "the database does not answer in time"
        case .directory, .inUse, .missing, .lost, .keyWithoutQueue, .otherSchema, .damaged, .refused, .otherTables: nil
        }
    }
}

extension StoreError: CustomStringConvertible {
    @usableFromInline package var description: String {
        switch self {
        case .directory(let path, let reason):
            "The data directory \(path) cannot be used: \(reason). Correct that, or choose another with --data-dir."
        case .inUse(let path, let owner):
            "The data directory \(path) is in use by another signalbox\(owner.map { " (process \($0))" } ?? ""). "
                + "Stop it, or choose another with --data-dir."
        case .missing(let path): "There is no queue in \(path). Name the gateway's directory with --data-dir."
        case .lost(let directory, let reason):
            "The queue in \(directory) lost events: \(reason). Put the missing file or a backup back. To continue without "
                + "the lost events, start once with: signalbox serve --accept-queue-loss."
        case .keyWithoutQueue(let directory):
            "The data directory \(directory) has no queue: token.key is there but queue.db is not. If this is a new "
                + "directory whose token.key was put there on purpose, start once with: signalbox serve "
                + "--accept-queue-loss. Otherwise the queue was removed: put queue.db or a backup of it back."
        case .otherSchema(let path, isNewer: true):
            "The queue \(path) was made by a newer version of signalbox. Use that version, or a later one."
        case .otherSchema(let path, isNewer: false):
            "The queue \(path) was made by an older version of signalbox. If its gateway runs, use the command of the "
                + "gateway's version. Otherwise start this version once with: signalbox serve. That updates the queue."
        case .damaged(let path, let reason):
            "The queue \(path) cannot be read: \(reason). Restore it from a backup, or move it away to start anew."
        case .unreachable(let reason): "\(reason.prefix(1).uppercased())\(reason.dropFirst())."
        case .refused(let reason, let remedy):
            "\(reason.prefix(1).uppercased())\(reason.dropFirst()). \(remedy.prefix(1).uppercased())\(remedy.dropFirst())."
        case .otherTables(let place, isNewer: true):
            "The tables of \(place) were made by a newer version of signalbox, and this version may no longer write "
                + "them. Use that version, or a later one."
        case .otherTables(let place, isNewer: false):
            "The tables of \(place) are missing or were made by an older version of signalbox. Run: signalbox store "
                + "migrate, with a role that may create tables."
        case .unavailable(let reason): "The queue cannot be used: \(reason)."
        case .stalled(let time):
            "The queue cannot be written: it has not completed a commit for \(time.components.seconds) s."
        case .undecided(let time):
            "The commit was not confirmed within \(time.components.seconds) s: its outcome is not known."
        }
    }
}
