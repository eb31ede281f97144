import Foundation
import SignalboxNotification
import SignalboxStore

/// The deliveries that a transaction removed, by destination and last state. The ledger counts them, so that an audit
/// can tell how many there must be.
struct DeliveryRemovals {
    private var counts: [DestinationName: [DeliveryRecord.State: Int]] = [:]

    /// All of them.
    var total: Int { counts.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

    mutating func add(_ count: Int, _ state: DeliveryRecord.State, of destination: DestinationName) {
        counts[destination, default: [:]][state, default: 0] += count
    }

    /// The statement that adds them to the ledger; nil for none. A removal of a waiting delivery sets the time of the
    /// first undelivered removal.
    func statement(in transaction: PostgresTransaction) -> PostgresStatement? {
        guard !counts.isEmpty else { return nil }
        // In byte order, as everywhere: writers lock rows of several destinations in one order.
        let rows = counts.sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
        func numbers(_ state: DeliveryRecord.State) -> PostgresValue { .numbers(rows.map { Int64($0.value[state] ?? 0) }) }
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

/// Statements that remove events with all that belongs to them.
///
/// Whoever adds a delivery of a stored event locks the event first, and whoever removes an event locks it and then
/// checks, in a later statement, that it has none. So no delivery is left without its event.
enum EventRemoval {
    /// Locks the events `$1` for their removal, in the order of all writers.
    static let lock = "SELECT seq FROM events WHERE seq = ANY ($1) ORDER BY seq FOR UPDATE"

    /// Parts of a statement whose common table expression `gone` has the numbers of removed events in `seq`.
    static let parts = ["variants", "payloads", "reports", "media_waits", "media_events", "event_files"].map {
        "gone_\($0) AS (DELETE FROM \($0) WHERE event IN (SELECT seq FROM gone))"
    }.joined(separator: ",\n")

    /// Removes those of the locked events `$1` that have no delivery left.
    static let unused = """
        WITH gone AS (
            DELETE FROM events e WHERE seq = ANY ($1) AND NOT EXISTS (SELECT 1 FROM queue WHERE event = e.seq)
                AND NOT EXISTS (SELECT 1 FROM ended WHERE event = e.seq)
            RETURNING seq
        ), \(parts)
        SELECT count(*) FROM gone
        """

    /// Removes those of the locked events `$1` of which no delivery waits. Returns a row for each destination and
    /// state of removed deliveries, and one without a destination for the events: their number and bytes.
    static let ended = """
        WITH gone AS (
            DELETE FROM events e WHERE seq = ANY ($1) AND NOT EXISTS (SELECT 1 FROM queue WHERE event = e.seq)
            RETURNING seq, octet_length(body) + coalesce(octet_length(payload), 0) AS bytes
        ), deliveries AS (
            DELETE FROM ended WHERE event IN (SELECT seq FROM gone) RETURNING id, destination, state
        ), gone_attempts AS (
            DELETE FROM attempts WHERE delivery IN (SELECT id FROM deliveries)
        ), \(parts)
        SELECT destination, state, count(*), 0::bigint FROM deliveries GROUP BY destination, state
        UNION ALL SELECT NULL, NULL, count(*), coalesce(sum(bytes), 0)::bigint FROM gone
        """
}
