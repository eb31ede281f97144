/// Ends of waits for files, with the deliveries and events that they belong to.
enum MediaWaits {
    /// Removes the waits of deliveries, for a transaction in which they end or are released. After the last wait of an
    /// event, removes its requests for files. Has no effect for deliveries that do not wait.
    static func end(of deliveries: [Int64], in tx: PostgresTransaction) -> [PostgresStatement] {
        let list = PostgresValue.numbers(deliveries)
        return [PostgresStatement(lock, [list]), PostgresStatement(end, MediaCounts.place(tx) + [list])]
    }

    /// Removes everything about the media of events, for a transaction that removes them.
    static func remove(events: [Int64], in tx: PostgresTransaction) -> [PostgresStatement] {
        let list = PostgresValue.numbers(events)
        return [
            PostgresStatement(
                """
                WITH gone AS (DELETE FROM media_waits WHERE event = ANY($3) RETURNING 1),
                \(MediaCounts.added("0, 0, 0, 0, 0, -count(*)", from: "gone"))
                SELECT 1
                """, MediaCounts.place(tx) + [list]),
            PostgresStatement("DELETE FROM media_events WHERE event = ANY($1)", [list]),
            PostgresStatement("DELETE FROM event_files WHERE event = ANY($1)", [list]),
        ]
    }

    /// Locks all waits of the events. If two transactions remove the last waits, the second one must see the changes of
    /// the first. `$1`: deliveries.
    static let lock = """
        SELECT 1 FROM media_waits
        WHERE event IN (SELECT event FROM media_waits WHERE delivery = ANY($1)) ORDER BY delivery FOR UPDATE
        """

    /// Follows ``lock``. `$3`: deliveries.
    private static let end = """
        WITH gone AS (DELETE FROM media_waits WHERE delivery = ANY($3) RETURNING event),
        ended AS (
            DELETE FROM media_events e USING (SELECT DISTINCT event FROM gone) AS g
            WHERE e.event = g.event AND NOT EXISTS (
                SELECT 1 FROM media_waits w WHERE w.event = g.event AND w.delivery <> ALL($3))
        ), \(MediaCounts.added("0, 0, 0, 0, 0, -count(*)", from: "gone"))
        SELECT 1
        """
}
