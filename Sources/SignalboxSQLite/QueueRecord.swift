import Foundation
import GRDB
import SignalboxStore
import Synchronization

/// A record of the queue outside of the queue's own files: its identity, and the last numbers that it assigned. A
/// queue that is behind its record lost commits. Stored as one line in `queue.id`. Compared at the next start by
/// ``QueueLoss/init(_:of:)``.
struct QueueRecord: Sendable, Equatable {
    /// 32 hexadecimal digits, random and fixed for the life of the queue.
    let identity: String
    /// The last number of an event that was assigned; 0 for none.
    var event: Int64
    /// The last number of a delivery that was assigned; 0 for none.
    var delivery: Int64

    /// The path of the record; a file of its own, so that it survives the loss of the queue.
    static func path(in directory: String) -> String { directory + "/queue.id" }

    /// Has a constant length, so that it is overwritten in place and never half written. Two numbers of 19 digits
    /// each, so every Int64 that is not negative fits.
    var text: String { identity + " " + Self.padded(event) + " " + Self.padded(delivery) + "\n" }

    /// A number of 19 digits. Written after every commit, for which `String(format:)` takes longer than the write.
    private static func padded(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 19 - digits.utf8.count)) + digits
    }
}

/// The two places that a record is read from; the start compares them.
extension QueueRecord {
    /// The values in the queue itself. Throws ``DamagedValue`` when the row of the identity is missing. Reads three
    /// rows.
    init(of db: Database) throws {
        guard let identity = try db.row("SELECT id FROM identity")?.text(0) else { throw StoredNumbers.missing }
        self.init(
            identity: identity, event: try StoredNumbers.lastEvent(in: db),
            delivery: try StoredNumbers.lastDelivery(in: db))
    }

    /// Reads the record of a directory; nil when it is missing or incomplete, for example after a power cut. A record
    /// that cannot be read does not prevent the start: without it, a lost commit is not detected.
    init?(in directory: String) {
        guard let data = FileManager.default.contents(atPath: Self.path(in: directory)), data.count <= 200 else {
            return nil
        }
        let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0].utf8.count == 32, let event = Int64(words[1]), event >= 0,
            let delivery = Int64(words[2]), delivery >= 0
        else { return nil }
        self.init(identity: String(words[0]), event: event, delivery: delivery)
    }
}

/// Writes the record after each commit that appends. A class because it owns a file descriptor. Before
/// ``begin(_:in:)`` it writes no file, so commands next to a gateway leave the gateway's record alone.
final class QueueRecordKeeper: Sendable {
    /// `file`: -1 before ``begin(_:in:)``.
    private let state = Mutex<(file: Int32, record: QueueRecord?)>((-1, nil))

    deinit {
        let file = state.withLock(\.file)
        if file >= 0 { close(file) }
    }

    /// Maintains a record from now on. Only the owner of a data directory calls this, once. Throws
    /// ``StoreError/directory(path:reason:)`` when `queue.id` cannot be opened.
    func begin(_ record: QueueRecord, in directory: String) throws(StoreError) {
        let file = open(QueueRecord.path(in: directory), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .directory(path: directory, reason: String(cString: strerror(errno))) }
        state.withLock { $0 = (file, record) }
        Self.write(record, to: file)
    }

    /// Called after a commit, with the last numbers that it assigned. Numbers never decrease. Does nothing before
    /// ``begin(_:in:)``. `nil`: no such number was assigned. Called on the writer's thread, after each commit that
    /// appended.
    func advance(event: Int64?, delivery: Int64?) {
        guard event != nil || delivery != nil else { return }
        state.withLock { state in
            guard var record = state.record else { return }
            record.event = max(record.event, event ?? 0)
            record.delivery = max(record.delivery, delivery ?? 0)
            state.record = record
            Self.write(record, to: state.file)
        }
    }

    /// Does not sync: after a power cut the record may be behind the queue, which is harmless. So is a failed write.
    private static func write(_ record: QueueRecord, to file: Int32) {
        let text = record.text
        _ = pwrite(file, text, text.utf8.count, 0)
    }
}

/// The numbers of events and deliveries. They grow even when the last row is removed: a reused number would name
/// another row to a client that still holds it. The table `identity` keeps the largest removed number, because
/// `max(seq)` alone would fall after a removal. Numbers are shown to operators and used in URLs.
enum StoredNumbers {
    /// Each queue has exactly one identity.
    static let missing = DamagedValue("the table identity has no row")

    /// 0 for a queue that never held an event.
    static func lastEvent(in db: Database) throws -> Int64 {
        try last("SELECT max(coalesce((SELECT max(seq) FROM events), 0), last_event) FROM identity", in: db)
    }

    /// 0 for a queue that never held a delivery.
    static func lastDelivery(in db: Database) throws -> Int64 {
        try last("SELECT max(coalesce((SELECT max(id) FROM deliveries), 0), last_delivery) FROM identity", in: db)
    }

    /// Reads one row; the maxima come from the primary keys. Every transaction that appends reads both numbers, so the
    /// row does not pass through GRDB.
    private static func last(_ sql: String, in db: Database) throws -> Int64 {
        let statement = try RowStatement(db, sql: sql, argumentBytes: 0)
        guard let last = try statement.only({ _ in }, { try $0.optionalNumber(0) }) ?? nil else { throw missing }
        return last
    }

    /// Called before rows are removed. Must run in the same transaction as the removal. Costs one small write.
    static func keep(in db: Database) throws {
        try db.run(
            """
            UPDATE identity SET
                last_event = max(last_event, coalesce((SELECT max(seq) FROM events), 0)),
                last_delivery = max(last_delivery, coalesce((SELECT max(id) FROM deliveries), 0))
            """)
    }
}
