import Foundation
import GRDB
import SignalboxModel

/// The statements of claiming and settling.
extension SQLiteQueue {
    /// The deliveries that are due, the oldest first, without those held; read from the index alone. `isWhole`: there are
    /// no more.
    static func due(
        _ destination: DestinationName, by now: Int64, upTo limit: Int, excluding held: Set<Int64>, in db: Database
    ) throws -> (ids: [Int64], isWhole: Bool) {
        let rows = try Int64.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT id FROM deliveries WHERE state = 'waiting' AND destination = ? AND due <= ? ORDER BY due, id
                    """), arguments: [destination.name, now])
        var ids: [Int64] = []
        while let id = try rows.next() {
            if held.contains(id) { continue }
            if ids.count == limit { return (ids, false) }
            ids.append(id)
        }
        return (ids, true)
    }

    /// One delivery with its event.
    static func lease(_ delivery: Int64, _ destination: DestinationName, in db: Database) throws -> Lease? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT e.id, d.attempts, e.body FROM deliveries d JOIN events e ON e.seq = d.event WHERE d.id = ?"
            ),
            arguments: [delivery]
        ).map { row in
            let body: Data = row[2]
            return Lease(
                delivery: delivery, event: row[0], destination: destination, attempts: row[1], body: Array(body))
        }
    }

    static func nextDue(_ destination: DestinationName, after now: Int64, in db: Database) throws -> Date? {
        let due = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT min(due) FROM deliveries WHERE state = 'waiting' AND destination = ? AND due > ?"),
            arguments: [destination.name, now])
        return due.map { Date(milliseconds: $0) }
    }

    static func update(_ lease: Lease, _ outcome: Outcome, in db: Database) throws {
        switch outcome {
        case .delivered(let status):
            try db.cachedStatement(
                sql: """
                    UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, status = ?, reason = NULL
                    WHERE id = ?
                    """
            ).execute(arguments: [status, lease.delivery])
        case .retry(let due, let status, let reason):
            try db.cachedStatement(
                sql: "UPDATE deliveries SET due = ?, attempts = attempts + 1, status = ?, reason = ? WHERE id = ?"
            ).execute(arguments: [due.milliseconds, status, reason, lease.delivery])
        case .dead(let status, let reason):
            try db.cachedStatement(
                sql: """
                    UPDATE deliveries SET state = 'dead', attempts = attempts + 1, status = ?, reason = ? WHERE id = ?
                    """
            ).execute(arguments: [status, reason, lease.delivery])
        case .postponed(let due, let reason):
            try db.cachedStatement(sql: "UPDATE deliveries SET due = ?, reason = ? WHERE id = ?")
                .execute(arguments: [due.milliseconds, reason, lease.delivery])
        case .returned: break
        }
    }
}
