import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// Finds the due deliveries of one destination that are not held, oldest first.
struct DueSearch: Sendable {
    let destination: DestinationName
    private let now: Int64
    private let limit: Int
    private let isOrdered: Bool
    private let held: Set<Int64>
    private let heldKeys: Set<String>
    /// The order key served last.
    private let lastKey: String?
    /// One more than requested, if there are more.
    private(set) var found: [Due] = []
    /// The earliest later time at which a delivery is due.
    private(set) var nextDue: Date?
    /// Due deliveries that are damaged.
    private(set) var unreadable: [Int64] = []
    private var isComplete = false

    struct Due: FetchableRecord, Sendable {
        let id: Int64
        let key: String?

        init(row: Row) throws {
            let row = StoredRow(row: row)
            id = try row.number(0)
            key = try row.optionalText(1)
        }
    }

    init(of destination: DestinationName, by now: Int64, limit: Int, _ lanes: Lanes) {
        self.destination = destination
        self.now = now
        self.limit = limit
        (held, heldKeys, isOrdered, lastKey) = lanes.withHandOff {
            (
                $0.held(of: destination), $0.heldKeys(of: destination), $0.isOrdered(destination),
                $0.lastKey(of: destination)
            )
        }
    }

    /// Whether everything due was found.
    var isWhole: Bool { isComplete && found.count <= limit }

    mutating func run(in db: Database) throws {
        try run(in: db) { _ in true }
    }

    /// The same for a damaged file. Runs outside of a write transaction, because SQLite rejects writes in one that met
    /// a malformed page. Skips what cannot be read, and stops when the index cannot be read any further.
    mutating func runAroundDamage(in db: Database, path: String) throws {
        func isDamage(_ error: any Error) -> Bool {
            if case .damaged = StoreError(error, path: path) { true } else { false }
        }
        var unreadable: [Int64] = []
        do {
            try run(in: db) { [destination, now] id in
                do {
                    _ = try DueDelivery(id, destination, now, in: db)
                    return true
                } catch {
                    guard isDamage(error) else { throw error }
                    unreadable.append(id)
                    return false
                }
            }
        } catch {
            guard isDamage(error), !found.isEmpty || !unreadable.isEmpty else { throw error }
        }
        self.unreadable = unreadable
    }

    /// `accepts`: whether a delivery counts as found.
    private mutating func run(in db: Database, accepts: (Int64) throws -> Bool) throws {
        if isOrdered {
            try gather(dueInOrder(after: lastKey, in: db), accepts)
            if let lastKey { try gather(dueInOrder(upTo: lastKey, in: db), accepts) }
        } else {
            try gather(due(in: db), accepts)
        }
        nextDue = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT min(due) FROM deliveries WHERE state = 'waiting' AND destination = ? AND due > ?"),
            arguments: [destination.name, now]
        ).map { Date(milliseconds: $0) }
        isComplete = true
    }

    private mutating func gather(_ due: RecordCursor<Due>, _ accepts: (Int64) throws -> Bool) throws {
        while found.count <= limit, let next = try due.next() {
            // The first delivery of a line was retried while its successor is in progress: they must not overtake each
            // other.
            if let key = next.key, heldKeys.contains(key) { continue }
            if !held.contains(next.id), try accepts(next.id) { found.append(next) }
        }
    }

    private func due(in db: Database) throws -> RecordCursor<Due> {
        try Due.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT id, NULL FROM deliveries WHERE state = 'waiting' AND destination = ? AND due <= ?
                    ORDER BY due, id
                    """), arguments: [destination.name, now])
    }

    /// The first delivery of each key, if it is due, and deliveries without a key. The query steps from key to key in
    /// the index, so it never reads the long line behind a key. It starts after the key served last, so that no line
    /// is served twice before another one. `UNION` ends the search even in an index whose keys are out of order.
    private func dueInOrder(
        after first: String? = nil, upTo last: String? = nil, in db: Database
    ) throws -> RecordCursor<Due> {
        try Due.fetchCursor(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE keys(key) AS (
                        SELECT min(order_key) FROM deliveries
                            WHERE state = 'waiting' AND destination = :destination
                                AND order_key \(first == nil ? "IS NOT NULL AND :first IS NULL" : "> :first")
                        UNION
                        SELECT (SELECT min(order_key) FROM deliveries
                            WHERE state = 'waiting' AND destination = :destination AND order_key > key)
                        FROM keys WHERE key IS NOT NULL AND (:last IS NULL OR key < :last)
                    ), firsts(id, key) AS (
                        SELECT (SELECT id FROM deliveries
                            WHERE state = 'waiting' AND destination = :destination AND order_key = key
                            ORDER BY order_key, id LIMIT 1), key
                        FROM keys WHERE key IS NOT NULL AND (:last IS NULL OR key <= :last)
                    )
                    SELECT d.id, f.key FROM firsts f CROSS JOIN deliveries d ON d.id = f.id WHERE d.due <= :now
                    UNION ALL
                    SELECT id, NULL FROM deliveries
                        WHERE state = 'waiting' AND destination = :destination AND due <= :now AND order_key IS NULL
                            AND :last IS NULL
                    """),
            arguments: ["destination": destination.name, "now": now, "first": first, "last": last])
    }
}
