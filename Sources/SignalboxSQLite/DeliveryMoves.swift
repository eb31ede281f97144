import GRDB
import SignalboxNotification
import SignalboxStore

extension DeliveryMoves {
    /// Adds the changes to the ledger: one write for each destination, however many deliveries the transaction has.
    /// Numbers may be negative; a destination without a row gets one.
    func write(in db: Database) throws {
        for (destination, change) in changes {
            try db.run(
                """
                INSERT INTO ledger (destination, accepted, waiting_now, dead_now, delivered_now, expired_now)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (destination) DO UPDATE SET accepted = accepted + excluded.accepted,
                    waiting_now = waiting_now + excluded.waiting_now, dead_now = dead_now + excluded.dead_now,
                    delivered_now = delivered_now + excluded.delivered_now,
                    expired_now = expired_now + excluded.expired_now
                """,
                [
                    destination.name, change.accepted, change.waiting, change.dead, change.ends[.delivered] ?? 0,
                    change.ends[.expired] ?? 0,
                ])
        }
    }
}

extension Database {
    /// Counts the dead deliveries of a condition as waiting ones in the ledger. For the transaction that requeues them.
    /// Call it before the update: it counts the deliveries that are still dead.
    func countRequeued(_ condition: String, _ arguments: StatementArguments) throws {
        var moves = DeliveryMoves()
        let rows = try StoredRow.fetchAll(
            self,
            sql: """
                SELECT d.destination, count(*) FROM deliveries d NOT INDEXED WHERE \(condition) AND d.state = 'dead'
                GROUP BY d.destination
                """, arguments: arguments)
        for row in rows { moves.requeue(try row.count(1), of: DestinationName(try row.text(0))) }
        try moves.write(in: self)
    }
}
