package import SignalboxStore

extension PostgresStore: FleetStore {
    package func fleet() async throws(StoreError) -> FleetState {
        let node = membership.incarnation?.node ?? 0
        let (age, takenOver, unknown) = (membership.age, membership.takenOver.value, membership.unknownCommits.value)
        return try await readers.read { connection in
            guard let row = try connection.run(Self.fleet, [.number(node)]).first else {
                throw DamagedValue("the statement about the fleet has no row")
            }
            return FleetState(
                nodes: try row.count(0), configs: try row.count(1), deadRows: try row.count(2),
                oldestTransaction: try row.count(3), held: try row.count(4), leaseAge: age.map { $0 / .seconds(1) },
                takenOver: takenOver, unknownCommits: unknown)
        }
    }

    /// Commands have no config, and do not count as nodes.
    private static let fleet = """
        SELECT (SELECT count(*) FROM nodes WHERE is_live AND config IS NOT NULL),
            (SELECT count(DISTINCT config) FROM nodes WHERE is_live),
            coalesce((SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = 'queue'::regclass), 0),
            coalesce((
                SELECT max(extract(epoch FROM clock_timestamp() - xact_start))::bigint FROM pg_stat_activity
                WHERE backend_xmin IS NOT NULL AND datname = current_database()
            ), 0),
            (SELECT count(*) FROM queue WHERE holder = $1)
        """
}
