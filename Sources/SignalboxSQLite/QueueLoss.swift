import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

/// The way in which the queue of a data directory was lost. Detects it at the start, before the gateway accepts
/// events into an empty queue unnoticed. Each case is a reason not to start without `--accept-queue-loss`.
enum QueueLoss: Equatable {
    /// `sign`: the file that shows that there was a queue.
    case missing(sign: String)
    /// The directory holds `token.key` and no other file of a queue. It is new, or everything else was removed.
    case onlyKey
    /// The file exists, but no migration was ever applied to it.
    case emptied
    /// The identity in `queue.db` differs from the one in `queue.id`.
    case replaced
    /// Numbers of events or of deliveries. `last`: the largest number in the file. `accepted`: the largest one in
    /// `queue.id`.
    case behind(last: Int64, accepted: Int64)

    /// A clause for error messages.
    var reason: String {
        switch self {
        case .missing(let sign): "\(sign) is there, but queue.db is missing or empty"
        case .onlyKey: "token.key is there but queue.db is not"
        case .emptied: "queue.db no longer holds a queue; perhaps queue.db-wal was removed"
        case .replaced: "queue.db is another queue than the one that queue.id describes"
        case .behind(let last, let accepted):
            "queue.db ends at number \(last), but \(accepted) was accepted; queue.db-wal was removed, or queue.db "
                + "was replaced by an older copy"
        }
    }

    /// The error that reports it.
    func error(in directory: String) -> StoreError {
        self == .onlyKey ? .keyWithoutQueue(directory: directory) : .lost(directory: directory, reason: reason)
    }

    /// Checks the directory before SQLite opens the file, because SQLite creates a missing one. Returns nil for a
    /// queue that is not empty, and for a directory without any sign of a former queue. An empty `queue.db` counts as
    /// missing: SQLite would make a new queue in it.
    init?(beforeOpening directory: String) {
        guard Self.size(directory + "/queue.db") == 0,
            let sign = Self.sign(in: directory, among: Self.laterFiles + ["queue.db-wal"])
        else { return nil }
        let isAlone = ["queue.db", "queue.db-wal"].allSatisfy { access(directory + "/" + $0, F_OK) != 0 }
        self = sign == "token.key" && isAlone ? .onlyKey : .missing(sign: sign)
    }

    /// Compares a queue with its record. Nil when both agree, and when the directory of an earlier version has no
    /// record. `former`: from `queue.id`. `record`: from `queue.db`.
    init?(_ former: QueueRecord?, of record: QueueRecord) {
        guard let former else { return nil }
        if former.identity != record.identity {
            self = .replaced
        } else if record.event < former.event {
            self = .behind(last: record.event, accepted: former.event)
        } else if record.delivery < former.delivery {
            self = .behind(last: record.delivery, accepted: former.delivery)
        } else {
            return nil
        }
    }

    /// Whether the directory must contain a queue. A log alone does not show that: a first start that was killed
    /// before its first commit leaves one. Decides the argument `mustExist` of ``SQLiteFile``.
    static func isExpected(in directory: String) -> Bool { sign(in: directory, among: laterFiles) != nil }

    /// Files that the gateway makes after the queue's first commit.
    private static let laterFiles = ["queue.id", "token.key"]

    /// The first of the files that exists and is not empty.
    private static func sign(in directory: String, among names: [String]) -> String? {
        names.first { size(directory + "/" + $0) > 0 }
    }

    /// 0 for a missing file.
    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}

/// The two ways to open a queue: as its owner, or next to it.
extension SQLiteQueue {
    /// Opens the queue of a gateway that may be running. Throws when there is none. For commands that run next to the
    /// gateway: it takes no lock on the directory and writes no record. Throws ``StoreError/missing(path:)`` without
    /// a file, ``StoreError/directory(path:reason:)`` if it may not look for one, and the same errors for a lost queue
    /// as the owner's initializer. Reads and writes through connections of its own; SQLite's locks order its writes
    /// with the gateway's. Applies no migrations, because a running gateway
    /// relies on its tables: throws ``StoreError/otherSchema(path:isNewer:)`` for the queue of another version.
    package static func existing(in directory: String) throws(StoreError) -> SQLiteQueue {
        if let loss = QueueLoss(beforeOpening: directory) { throw loss.error(in: directory) }
        try findQueue(in: directory)
        return try SQLiteQueue(in: directory, mustExist: QueueLoss.isExpected(in: directory), migrates: false)
    }

    /// Throws ``StoreError/missing(path:)`` for a directory without a queue, and
    /// ``StoreError/directory(path:reason:)`` for one in which this process cannot look for it.
    static func findQueue(in directory: String) throws(StoreError) {
        guard let error = (directory + "/queue.db").lookupError else { return }
        guard error == ENOENT else { throw .directory(path: directory, reason: String(cString: strerror(error))) }
        throw .missing(path: directory)
    }

    /// Opens or creates the queue of a data directory for its owner. Unless `acceptsLoss`, throws
    /// ``StoreError/lost(directory:reason:)`` when a former queue is gone or the file lacks accepted events, and
    /// ``StoreError/keyWithoutQueue(directory:)`` when it cannot tell a lost queue from a new directory. A damaged
    /// file opens without a record, so that readable deliveries can still be sent. The directory must outlive the
    /// queue: its lock keeps a second gateway out. Applies pending migrations. Throws
    /// ``StoreError/otherSchema(path:isNewer:)`` for the queue of a newer version.
    package convenience init(of directory: DataDirectory, acceptsLoss: Bool = false) throws(StoreError) {
        let path = directory.path
        if !acceptsLoss, let loss = QueueLoss(beforeOpening: path) { throw loss.error(in: path) }
        let former = QueueRecord(in: path)
        try self.init(in: path, mustExist: !acceptsLoss && QueueLoss.isExpected(in: path))
        let record: QueueRecord
        do {
            record = try file.pool.read { try QueueRecord(of: $0) }
        } catch {
            let reason = file.failure(error)
            guard case .damaged = reason else { throw reason }
            // Until the file is repaired, no event is accepted and the record does not change. Readable deliveries are
            // sent.
            return
        }
        if !acceptsLoss, let loss = QueueLoss(former, of: record) { throw loss.error(in: path) }
        try file.record.begin(record, in: path)
    }
}
