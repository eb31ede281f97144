import GRDB
import SignalboxNotification
import SignalboxStore

/// The deliveries of a transaction that began, ended or were requeued, by destination. Written to the ledger once
/// before the commit, so that no count needs to read the deliveries.
struct DeliveryMoves {
    /// The changes of one destination: of its stored deliveries by state, and of those that it ever had.
    private struct Change {
        var accepted = 0
        var waiting = 0
        var dead = 0
        /// Deliveries that reached an end.
        var ends: [DeliveryRecord.State: Int] = [:]

        /// In one call, so that the destination is looked up once.
        mutating func begin() {
            accepted += 1
            waiting += 1
        }
    }

    private var changes: [DestinationName: Change] = [:]

    /// Counts a new delivery.
    mutating func begin(_ destination: DestinationName) {
        changes[destination, default: Change()].begin()
    }

    /// Counts the end of a waiting delivery.
    mutating func end(_ state: DeliveryRecord.State, of destination: DestinationName) {
        changes[destination, default: Change()].waiting -= 1
        if state == .dead { changes[destination, default: Change()].dead += 1 }
        changes[destination, default: Change()].ends[state, default: 0] += 1
    }

    /// Counts dead deliveries that wait again.
    mutating func requeue(_ count: Int, of destination: DestinationName) {
        changes[destination, default: Change()].dead -= count
        changes[destination, default: Change()].waiting += count
    }

    /// The deliveries that ended.
    var ends: [DestinationName: [DeliveryRecord.State: Int]] { changes.mapValues(\.ends).filter { !$0.value.isEmpty } }

    /// Adds the changes to the ledger: one write for each destination, however many deliveries the transaction has.
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
    func countRequeued(_ condition: String, _ arguments: StatementArguments) throws {
        var moves = DeliveryMoves()
        let rows = try StoredRow.fetchAll(
            self,
            sql: """
                SELECT d.destination, count(*) FROM deliveries d WHERE \(condition) AND d.state = 'dead'
                GROUP BY d.destination
                """, arguments: arguments)
        for row in rows { moves.requeue(try row.count(1), of: DestinationName(try row.text(0))) }
        try moves.write(in: self)
    }
}
