/// Removes the rows of nodes that are gone. One node does it, every ten minutes.
enum NodeUpkeep {
    /// Heartbeats between two rounds.
    static let interval = 300

    /// One transaction.
    static let statements = [
        PostgresStatement("SELECT set_config('lock_timeout', '1000', true)"), PostgresStatement(ledger),
        PostgresStatement(mediaCounts),
        // Their marks stay closed for a day; without a row, they count as closed.
        PostgresStatement(
            """
            DELETE FROM nodes n WHERE NOT is_live AND seen_at < clock_timestamp() - interval '1 day'
                AND NOT EXISTS (SELECT FROM queue WHERE holder = n.id)
            """),
        PostgresStatement("DELETE FROM marks m WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.id = m.node)"),
        PostgresStatement("DELETE FROM duties WHERE until < clock_timestamp() - interval '1 day'"),
    ]

    private static let sums = [
        "accepted", "delivered", "dead", "expired", "waiting", "waiting_now", "dead_now", "delivered_now",
        "expired_now",
    ]

    /// Like ``ledger``, for the counts of media, which every tick reads.
    private static let mediaCounts = """
        WITH gone AS (
            DELETE FROM media_counts c WHERE node > 0
                AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = c.node AND n.is_live) RETURNING *
        )
        INSERT INTO media_counts AS c (node, lane, wanted, stored, failed, files, bytes, held)
        SELECT 0, 0, sum(wanted), sum(stored), sum(failed), sum(files), sum(bytes), sum(held) FROM gone
        HAVING count(*) > 0
        ON CONFLICT (node, lane) DO UPDATE SET wanted = c.wanted + excluded.wanted, stored = c.stored + excluded.stored,
            failed = c.failed + excluded.failed, files = c.files + excluded.files, bytes = c.bytes + excluded.bytes,
            held = c.held + excluded.held
        """

    /// Adds the rows of nodes that are gone to those of node 0, which is not a node. Their writers have ended.
    private static let ledger = """
        WITH gone AS (
            DELETE FROM ledger l WHERE node > 0
                AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = l.node AND n.is_live) RETURNING *
        )
        INSERT INTO ledger AS l (destination, node, lane, undelivered_since, \(sums.joined(separator: ", ")))
        SELECT destination, 0, 0, min(undelivered_since), \(sums.map { "sum(\($0))" }.joined(separator: ", ")) FROM gone
        GROUP BY destination ORDER BY destination
        ON CONFLICT (destination, node, lane) DO UPDATE SET
            undelivered_since = least(l.undelivered_since, excluded.undelivered_since),
            \(sums.map { "\($0) = l.\($0) + excluded.\($0)" }.joined(separator: ", "))
        """
}
