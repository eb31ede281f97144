/// Statements that remove events with all that belongs to them.
///
/// A transaction that adds a delivery of a stored event locks the event first. One that removes an event locks it and
/// then checks, in a later statement, that it has no delivery. So no delivery is left without its event.
enum EventRemoval {
    /// The approximate size of a row of `events` with its entries in indexes.
    static let bytes = "\(ContentSize.stored("body"))::bigint + \(ContentSize.stored("payload")) + 170"

    /// Locks the events `$1` for their removal, in the order of all writers. Waits for appends of deliveries to them,
    /// which lock the event more weakly.
    static let lock = "SELECT seq FROM events WHERE seq = ANY ($1) ORDER BY seq FOR UPDATE"

    /// Parts of a statement whose common table expression `gone` has the numbers of removed events in `seq`.
    static let parts = ["variants", "payloads", "reports"].map {
        "gone_\($0) AS (DELETE FROM \($0) WHERE event IN (SELECT seq FROM gone))"
    }.joined(separator: ",\n")

    /// Removes those of the locked events `$1` that have no delivery left, and returns them. Their media follow, with
    /// ``MediaWaits/remove(events:in:)``.
    static let unused = """
        WITH gone AS (
            DELETE FROM events e WHERE seq = ANY ($1) AND NOT EXISTS (SELECT 1 FROM queue WHERE event = e.seq)
                AND NOT EXISTS (SELECT 1 FROM ended WHERE event = e.seq)
            RETURNING seq
        ), \(parts)
        SELECT seq FROM gone
        """

    /// Removes the locked events `$1` without a waiting delivery. Returns a row for each destination and state of
    /// removed deliveries, and one without a destination for each event, with its number and bytes. Their media follow,
    /// as with ``unused``.
    static let ended = """
        WITH gone AS (
            DELETE FROM events e WHERE seq = ANY ($1) AND NOT EXISTS (SELECT 1 FROM queue WHERE event = e.seq)
            RETURNING seq, \(bytes) AS bytes
        ), deliveries AS (
            DELETE FROM ended WHERE event IN (SELECT seq FROM gone) RETURNING id, destination, state
        ), gone_attempts AS (
            DELETE FROM attempts WHERE delivery IN (SELECT id FROM deliveries)
        ), \(parts)
        SELECT destination, state, count(*), 0::bigint FROM deliveries GROUP BY destination, state
        UNION ALL SELECT NULL, NULL, seq, bytes FROM gone
        """
}
