import Foundation
import GRDB
import SignalboxModel

extension SQLiteWriter {
    /// Leases deliveries that are due, the oldest first, and notes that their attempts have begun: who finds them after a
    /// crash knows that they may have been made.
    func claim(
        from destination: DestinationName, upTo limit: Int, in db: Database, _ transaction: inout Transaction
    ) throws -> [Lease] {
        let now = transaction.now.milliseconds
        let (held, isOrdered, lastKey) = lanes.withHandOff {
            ($0.held(of: destination), $0.isOrdered(destination), $0.lastKey(of: destination))
        }
        // One more than wanted, to know whether there are more.
        var found: [Due] = []
        func gather(_ due: RecordCursor<Due>) throws {
            while found.count <= limit, let next = try due.next() {
                if !held.contains(next.id) { found.append(next) }
            }
        }
        if isOrdered {
            try gather(Self.dueInOrder(destination, by: now, after: lastKey, in: db))
            if let lastKey { try gather(Self.dueInOrder(destination, by: now, upTo: lastKey, in: db)) }
        } else {
            try gather(Self.due(destination, by: now, in: db))
        }
        let leases = try found.prefix(limit).compactMap { try begin($0.id, destination, now, in: db) }
        let nextDue = try Self.nextDue(destination, after: now, in: db)
        transaction.claimed.append(
            ClaimedFromFile(
                destination: destination, leases: leases, isWhole: found.count <= limit, nextDue: nextDue,
                lastKey: found.prefix(limit).last { $0.key != nil }?.key))
        return leases
    }

    /// One delivery with its event; nil when its time is over, which then is noted.
    private func begin(_ id: Int64, _ destination: DestinationName, _ now: Int64, in db: Database) throws -> Lease? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT e.id, d.attempts, coalesce(v.body, e.body), e.payload, d.not_after, d.begun, d.forgiven,
                        d.begun = 0 AND EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id AND shape IS NOT NULL)
                    FROM deliveries d JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
                    WHERE d.id = ?
                    """), arguments: [id])
        guard let row else { return nil }
        let notAfter: Int64? = row[4]
        if let notAfter, notAfter <= now {
            try expire(id, in: db)
            return nil
        }
        let awaitsItsShape: Bool = row[7]
        if awaitsItsShape {
            // A route is yet to make something else of it: as it is, it says what nobody was to hear.
            try db.cachedStatement(sql: "UPDATE deliveries SET due = ? WHERE id = ?")
                .execute(arguments: [now + Int64(Self.releaseGrace * 1000), id])
            return nil
        }
        var attempts: Int = row[1]
        let begun: Int = row[5]
        if begun > attempts {
            try noteInterrupted(id, number: begun, in: db)
            attempts = begun
        }
        try db.cachedStatement(sql: "UPDATE deliveries SET begun = ?, attempts = ? WHERE id = ?")
            .execute(arguments: [attempts + 1, attempts, id])
        let body: Data = row[2]
        let payload: Data? = row[3]
        let forgiven: Int = row[6]
        return Lease(
            delivery: id, event: row[0], destination: destination, attempts: attempts - forgiven, earlier: attempts,
            body: Array(body), payload: payload.map { Array($0) }, notAfter: notAfter.map { Date(milliseconds: $0) })
    }

    /// Nobody holds this delivery, yet an attempt was begun: it belongs to a process that is no more.
    func noteInterrupted(_ id: Int64, number: Int, in db: Database) throws {
        try keepLastAttempt(of: id, in: db)
        try db.cachedStatement(
            sql: """
                UPDATE deliveries SET started_at = NULL, duration = NULL, status = NULL, error = 'interrupted',
                    reason = 'the gateway ended before it was known how this attempt went', remote = NULL,
                    excerpt = NULL, attempts = ?
                WHERE id = ?
                """
        ).execute(arguments: [number, id])
    }

    // MARK: What is due

    private struct Due: FetchableRecord {
        let id: Int64
        let key: String?

        init(row: Row) {
            id = row[0]
            key = row[1]
        }
    }

    private static func due(_ destination: DestinationName, by now: Int64, in db: Database) throws -> RecordCursor<Due>
    {
        try Due.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT id, NULL FROM deliveries WHERE state = 'waiting' AND destination = ? AND due <= ?
                    ORDER BY due, id
                    """), arguments: [destination.name, now])
    }

    /// The first of each key, where it is due, and those without a key. The keys are found one after the other in the
    /// index, so that a long line behind one of them is never read; behind the last key that had its turn, so that no line
    /// is served twice before another.
    private static func dueInOrder(
        _ destination: DestinationName, by now: Int64, after first: String? = nil, upTo last: String? = nil,
        in db: Database
    ) throws -> RecordCursor<Due> {
        try Due.fetchCursor(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE keys(key) AS (
                        SELECT min(order_key) FROM deliveries
                            WHERE state = 'waiting' AND destination = :destination
                                AND order_key \(first == nil ? "IS NOT NULL AND :first IS NULL" : "> :first")
                        UNION ALL
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

    private static func nextDue(_ destination: DestinationName, after now: Int64, in db: Database) throws -> Date? {
        let due = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT min(due) FROM deliveries WHERE state = 'waiting' AND destination = ? AND due > ?"),
            arguments: [destination.name, now])
        return due.map { Date(milliseconds: $0) }
    }
}
