/// Removes the rows of nodes that are gone. One node does it, every ten minutes.
enum NodeUpkeep {
    /// Heartbeats between two rounds.
    static let interval = 300

    /// One transaction. A lock that is taken for more than a second ends it without a change; the next round tries
    /// again.
    static let statements = [
        PostgresStatement("SELECT set_config('lock_timeout', '1000', true)"), PostgresStatement(ledger),
        PostgresStatement(mediaCounts, [.number(0), .number(0)]),
        // Their marks stay closed for a day; without a row, they count as closed.
        PostgresStatement(
            """
            DELETE FROM nodes n WHERE NOT is_live AND seen_at < clock_timestamp() - interval '1 day'
                AND NOT EXISTS (SELECT FROM queue WHERE holder = n.id)
            """),
        PostgresStatement("DELETE FROM marks m WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.id = m.node)"),
        PostgresStatement("DELETE FROM duties WHERE until < clock_timestamp() - interval '1 day'"),
    ]

    /// The columns of the ledger that are added up. `undelivered_since` is a minimum instead.
    private static let sums = [
        "accepted", "delivered", "dead", "expired", "waiting", "waiting_now", "dead_now", "delivered_now",
        "expired_now",
    ]

    /// Like ``ledger``, for the counts of media, which every tick reads. `$1`, `$2`: the row of node 0.
    private static let mediaCounts = """
        WITH gone AS (
            DELETE FROM media_counts c WHERE node > 0
                AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = c.node AND n.is_live) RETURNING *
        ), \(MediaCounts.added(MediaCounts.sums, from: "gone"))
        SELECT 1
        """

    /// Adds the rows of nodes that are gone to those of node 0, which is not a node: otherwise the ledger
    /// would grow with each start of a gateway. Their writers have ended. The rest is left to the next round.
    private static let ledger = """
        WITH old AS MATERIALIZED (
            SELECT destination, node, lane FROM ledger l
            WHERE node > 0 AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = l.node AND n.is_live)
            ORDER BY destination, node, lane LIMIT 5000 FOR UPDATE
        ), gone AS (
            DELETE FROM ledger WHERE (destination, node, lane) IN (SELECT destination, node, lane FROM old) RETURNING *
        )
        INSERT INTO ledger AS l (destination, node, lane, undelivered_since, \(sums.joined(separator: ", ")))
        SELECT destination, 0, 0, min(undelivered_since), \(sums.map { "sum(\($0))" }.joined(separator: ", ")) FROM gone
        GROUP BY destination ORDER BY destination
        ON CONFLICT (destination, node, lane) DO UPDATE SET
            undelivered_since = least(l.undelivered_since, excluded.undelivered_since),
            \(sums.map { "\($0) = l.\($0) + excluded.\($0)" }.joined(separator: ", "))
        """
}
