package import SignalboxStore

/// Counts of the whole store in one row, which one node writes and all nodes show.
enum FleetCounts {
    /// Between two counts.
    static let interval: Duration = .seconds(10)

    /// Takes the counts; `$1` is the time. Reads a few rows of the queue for each destination. Rows of other users in
    /// `pg_stat_activity` have no snapshot to an ordinary user; replication slots have one. `dead_rows` is the server's
    /// own estimate for `queue`, and `oldest_snapshot` an age in transactions (PostgreSQL, "The Cumulative Statistics
    /// System"). Nodes without a config, such as commands, are not counted.
    static let take = """
        INSERT INTO fleet (one, at, nodes, configs, waiting, dead, oldest_due, dead_rows, oldest_snapshot)
        SELECT true, $1, (SELECT count(*) FROM nodes WHERE is_live AND config IS NOT NULL),
            (SELECT count(DISTINCT config) FROM nodes WHERE is_live),
            (SELECT coalesce(sum(waiting_now), 0) FROM ledger), (SELECT coalesce(sum(dead_now), 0) FROM ledger),
            (SELECT min(least(\(FirstDue.of("d.name", keyed: false)), \(FirstDue.of("d.name", keyed: true))))
                FROM (SELECT DISTINCT destination AS name FROM ledger) d),
            (SELECT coalesce(max(n_dead_tup), 0) FROM pg_stat_all_tables WHERE relid = 'queue'::regclass),
            (SELECT coalesce(max(age), 0) FROM (
                SELECT age(backend_xmin)::bigint AS age FROM pg_stat_activity
                UNION ALL SELECT age(xmin)::bigint FROM pg_replication_slots
            ) a)
        ON CONFLICT (one) DO UPDATE SET at = excluded.at, nodes = excluded.nodes, configs = excluded.configs,
            waiting = excluded.waiting, dead = excluded.dead, oldest_due = excluded.oldest_due,
            dead_rows = excluded.dead_rows, oldest_snapshot = excluded.oldest_snapshot
        """

    /// The last counts; nil before the first. And how many configs live nodes have at present. One round trip.
    /// `oldestDue` is nil unless a delivery was overdue at the time of the counts.
    static func read(on connection: PostgresConnection) throws -> (FleetReport?, configs: Int) {
        let results = try connection.run(all: [
            PostgresStatement("SELECT count(DISTINCT config) FROM nodes WHERE is_live"),
            PostgresStatement(
                """
                SELECT at, nodes, configs, waiting, dead, CASE WHEN oldest_due <= at THEN oldest_due END, dead_rows,
                    oldest_snapshot FROM fleet
                """),
        ])
        let report = try results[1].first.map { row in
            FleetReport(
                at: try row.date(0), nodes: try row.count(1), configs: try row.count(2), waiting: try row.count(3),
                dead: try row.count(4), oldestDue: try row.optionalDate(5), deadRows: try row.count(6),
                oldestSnapshot: try row.count(7))
        }
        return (report, try results[0].first?.count(0) ?? 0)
    }
}

extension PostgresStore {
    /// From memory, without a round trip; never nil for this store.
    package var fleet: FleetStatus? {
        var status = FleetStatus()
        status.held = lanes.withHandOff { $0.lanes.values.reduce(0) { $0 + $1.held.count } }
        status.heartbeatAge = membership.age
        (status.lost, status.takenOver) = (lost.value, membership.takenOver.value)
        status.unknownCommits = membership.unknownCommits.value
        (status.report, status.configsDifferFor) = membership.fleet
        return status
    }

    /// Replaces an earlier description. The name is that of the host.
    package func announce(config digest: String, version: String) {
        describe(NodeDescription(version: version, config: digest))
    }
}
