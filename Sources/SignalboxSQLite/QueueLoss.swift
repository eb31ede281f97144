import Foundation
import SignalboxStore

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
