import Foundation
import GRDB
import SignalboxModel

/// The statements of claiming and settling.
extension SQLiteQueue {
    static func due(_ destination: DestinationName, by now: Int64, limit: Int, in db: Database) throws -> [Lease] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT d.id, e.id, d.attempts, e.body FROM deliveries d JOIN events e ON e.seq = d.event
                    WHERE d.state = 'waiting' AND d.destination = ? AND d.due <= ? ORDER BY d.due, d.id LIMIT ?
                    """), arguments: [destination.name, now, limit])
        var leases: [Lease] = []
        while let row = try rows.next() {
            let body: Data = row[3]
            leases.append(
                Lease(
                    delivery: row[0], event: row[1], destination: destination, attempts: row[2], body: Array(body)))
        }
        return leases
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
        case .returned: break
        }
    }
}
