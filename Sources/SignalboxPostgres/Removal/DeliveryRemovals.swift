import SignalboxNotification
import SignalboxStore

/// The deliveries that a transaction removed, by destination and last state. The ledger counts them, so that an audit
/// can tell how many there must be.
struct DeliveryRemovals {
    private var counts: [DestinationName: [DeliveryRecord.State: Int]] = [:]

    /// All of them.
    var total: Int { counts.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

    /// `state`: the one in which they were removed.
    mutating func add(_ count: Int, _ state: DeliveryRecord.State, of destination: DestinationName) {
        counts[destination, default: [:]][state, default: 0] += count
    }

    /// The statement that adds them to the ledger; nil for none. A removal of a waiting delivery sets the time of the
    /// first undelivered removal.
    func statement(in transaction: PostgresTransaction) -> PostgresStatement? {
        guard !counts.isEmpty else { return nil }
        // In byte order, as everywhere: writers lock rows of several destinations in one order.
        let rows = counts.sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
        func numbers(_ state: DeliveryRecord.State) -> PostgresValue {
            .numbers(rows.map { Int64($0.value[state] ?? 0) })
        }
        return PostgresStatement(
            """
            INSERT INTO ledger AS l (destination, node, lane, waiting, delivered, dead, expired,
                waiting_now, delivered_now, dead_now, expired_now, undelivered_since)
            SELECT destination, $1, $2, waiting, delivered, dead, expired, -waiting, -delivered, -dead, -expired,
                CASE WHEN waiting > 0 THEN $8::bigint END
            FROM unnest($3, $4, $5, $6, $7) AS gone (destination, waiting, delivered, dead, expired)
            ON CONFLICT (destination, node, lane) DO UPDATE SET waiting = l.waiting + excluded.waiting,
                delivered = l.delivered + excluded.delivered, dead = l.dead + excluded.dead,
                expired = l.expired + excluded.expired, waiting_now = l.waiting_now + excluded.waiting_now,
                delivered_now = l.delivered_now + excluded.delivered_now, dead_now = l.dead_now + excluded.dead_now,
                expired_now = l.expired_now + excluded.expired_now,
                undelivered_since = least(l.undelivered_since, excluded.undelivered_since)
            """,
            [
                .number(transaction.node), .number(transaction.lane.rawValue), .texts(rows.map(\.key.name)),
                numbers(.waiting), numbers(.delivered), numbers(.dead), numbers(.expired), .time(transaction.now),
            ])
    }
}
