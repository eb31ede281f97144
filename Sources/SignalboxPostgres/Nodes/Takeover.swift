/// Declares nodes gone, and frees the deliveries that they held. The next claim of one records its attempt as
/// interrupted.
struct Takeover {
    private let connection: PostgresConnection

    /// `connection`: of the heartbeat, or of a reader of a node that signs off; its calls block.
    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Whether a time is older than `$2` milliseconds, or in the future: the server's clock was set back after it.
    private static func isOld(_ time: String) -> String {
        "NOT \(time) BETWEEN clock_timestamp() - $2 * interval '1 ms' AND clock_timestamp()"
    }

    /// The live nodes, except `$1`: number, the time of the last heartbeat in microseconds, and whether it is older
    /// than `$2` milliseconds. False for all shortly after the start of the server, when all heartbeats are old. A
    /// heartbeat in the future counts as old: a live node replaces it within ``Heartbeat/interval``.
    static let others = """
        SELECT id, (extract(epoch FROM seen_at) * 1000000)::bigint,
            \(isOld("seen_at")) AND \(isOld("pg_postmaster_start_time()"))
        FROM nodes WHERE is_live AND id <> $1 ORDER BY id
        """

    /// A common table expression with the holders of deliveries, and a null. Steps from holder to holder in an index.
    static let holders = """
        WITH RECURSIVE holders (id) AS (
            SELECT min(holder) FROM queue WHERE holder IS NOT NULL
            UNION ALL
            SELECT (SELECT min(holder) FROM queue WHERE holder > h.id) FROM holders h WHERE h.id IS NOT NULL
        )

        """

    /// Holders of deliveries that are not live nodes.
    static let absent =
        holders + """
            SELECT id FROM holders h WHERE id IS NOT NULL
                AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = h.id AND n.is_live)
            """

    /// The most deliveries that one statement frees.
    private static let step: Int64 = 1000

    /// Returns the number of deliveries that it freed. `until`: the rest is left to the next call, because the next
    /// heartbeat is due. `absent`: nodes that are known to be gone, whose deliveries are freed without a further check.
    /// Each step is a transaction of its own, so a failure keeps the steps before it.
    func run(silent: [Int64], absent: [Int64], until end: ContinuousClock.Instant) throws -> Int {
        var gone = absent
        for node in silent where try declareGone(node) { gone.append(node) }
        var freed = 0
        for node in gone {
            var count = 0
            repeat {
                count = try free(node)
                freed += count
            } while count > 0 && ContinuousClock.now < end
        }
        return freed
    }

    /// Closes the marks of a node, which waits for its open transactions: none of them commits afterwards. False if it
    /// is alive after all, or if the wait was too long; then the next heartbeat tries again.
    private func declareGone(_ node: Int64) throws -> Bool {
        let lifetime = PostgresValue.number(Int64(NodeMembership.lifetime / .milliseconds(1)))
        let ending = PostgresStatement(
            """
            UPDATE nodes SET is_live = false WHERE id = $1 AND is_live AND \(Self.isOld("seen_at")) RETURNING id
            """, [.number(node), lifetime])
        do throws(PostgresFailure) {
            return try !connection.run(all: Self.closing(node, ending))[0].isEmpty
        } catch {
            guard error.isTransient else { throw error }
            do throws(PostgresFailure) {
                _ = try connection.run(Self.endSessions, [.number(node), lifetime])
            } catch {
                // Otherwise sessions of another role, which only that role may end.
                guard !error.endsConnection else { throw error }
            }
            return false
        }
    }

    /// Ends the sessions whose transactions hold the marks of a silent node. The server's own limits do not end a
    /// transaction of a stopped process that has sent its statements in part, or does not read their rows. The next
    /// heartbeat then declares the node gone.
    private static let endSessions = """
        SELECT pg_terminate_backend(l.pid) FROM marks m JOIN nodes n ON n.id = m.node
            JOIN pg_locks l ON l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
                AND l.transactionid = m.xmax
        WHERE m.node = $1 AND n.is_live AND \(isOld("n.seen_at")) AND l.pid <> pg_backend_pid()
        """

    /// The end of a node: its marks are closed, its duties and its backoffs end. The statements are one transaction.
    /// `ending`: the statement that changes its row. Without effect on marks, duties and backoffs if `ending` has
    /// changed no row and the node is alive.
    static func closing(_ node: Int64, _ ending: PostgresStatement) -> [PostgresStatement] {
        let isGone = "EXISTS (SELECT FROM nodes WHERE id = $1 AND NOT is_live)"
        return [
            ending,
            PostgresStatement("UPDATE marks SET is_closed = true WHERE node = $1 AND \(isGone)", [.number(node)]),
            PostgresStatement("DELETE FROM duties WHERE node = $1 AND \(isGone)", [.number(node)]),
            PostgresStatement("DELETE FROM backoffs WHERE node = $1 AND \(isGone)", [.number(node)]),
        ]
    }

    /// Frees the next deliveries of a node that is gone. Rows that another transaction has locked are left to the next
    /// call. Their due times and attempts stay as they were, so that a claim records the interrupted attempt.
    private func free(_ node: Int64) throws -> Int {
        try connection.run(
            """
            UPDATE queue SET holder = NULL WHERE id IN (
                SELECT id FROM queue WHERE holder = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
            )
            """, [.number(node), .number(Self.step)]
        ).affected
    }
}
