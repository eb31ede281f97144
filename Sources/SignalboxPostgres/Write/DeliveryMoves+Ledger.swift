import SignalboxNotification
import SignalboxStore

extension DeliveryMoves {
    /// Adds the changes to the ledger, in the row of each destination that this writer of this node alone changes.
    func write(in transaction: PostgresTransaction) throws {
        if let statement = statement(in: transaction) { try transaction.run(statement.sql, statement.values) }
    }

    /// The statement of ``write(in:)``, for callers that send it together with others; nil without changes.
    func statement(in transaction: PostgresTransaction) -> PostgresStatement? {
        guard !changes.isEmpty else { return nil }
        // In byte order, as everywhere: writers lock rows of several destinations in one order.
        let rows = changes.sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
        return PostgresStatement(
            Self.sql,
            [
                .number(transaction.node), .number(transaction.lane.rawValue), .texts(rows.map(\.key.name)),
                .numbers(rows.map { Int64($0.value.accepted) }), .numbers(rows.map { Int64($0.value.waiting) }),
                .numbers(rows.map { Int64($0.value.dead) }),
                .numbers(rows.map { Int64($0.value.ends[.delivered] ?? 0) }),
                .numbers(rows.map { Int64($0.value.ends[.expired] ?? 0) }),
            ])
    }

    /// `$1`, `$2`: node and lane; then an array for each column. The row is this writer's own, so the update waits for
    /// no other transaction.
    static let sql = """
        INSERT INTO ledger AS l (destination, node, lane, accepted, waiting_now, dead_now, delivered_now, expired_now)
        SELECT destination, $1, $2, accepted, waiting, dead, delivered, expired
        FROM unnest($3, $4, $5, $6, $7, $8) AS moves (destination, accepted, waiting, dead, delivered, expired)
        ON CONFLICT (destination, node, lane) DO UPDATE SET accepted = l.accepted + excluded.accepted,
            waiting_now = l.waiting_now + excluded.waiting_now, dead_now = l.dead_now + excluded.dead_now,
            delivered_now = l.delivered_now + excluded.delivered_now,
            expired_now = l.expired_now + excluded.expired_now
        """
}
