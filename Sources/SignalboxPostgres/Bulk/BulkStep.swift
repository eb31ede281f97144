import SignalboxStore

/// One step of a bulk change: some deliveries of a filter, which may have changed since they were found.
struct BulkStep {
    /// The filter's conditions. They have no bounds of numbers, because the ids replace these.
    private let arguments: [PostgresValue]
    /// In ascending order.
    private let ids: [Int64]

    /// `ids`: deliveries that met all conditions of the filter when they were found.
    init(_ filter: DeliveryFilter, _ ids: [Int64]) {
        var filter = filter
        filter.ids = ids
        arguments = filter.arguments(after: .min, before: .max, limit: 0)
        self.ids = ids
    }

    /// Makes waiting deliveries due, and moves dead ones back to the queue with their numbers. `dues`: the due times of
    /// the deliveries. Returns the number of changed ones. The times are milliseconds since 1970, in the order of the
    /// ids; a later `not_before` of a delivery stays. Waits for rows that other transactions have locked.
    func retry(_ dues: [Int64], in transaction: PostgresTransaction) throws -> Int {
        let values = arguments + [.numbers(dues)]
        let results = try transaction.run(all: [
            PostgresStatement(Self.keepEvents, [.numbers(ids)]), PostgresStatement(Self.retryWaiting, values),
            PostgresStatement(Self.retryDead, values),
        ])
        var moves = DeliveryMoves()
        var count = results[1].affected
        for row in results[2] {
            count += try row.count(1)
            moves.requeue(try row.count(1), of: try row.destination(0))
        }
        try moves.write(in: transaction)
        return count
    }

    /// Removes free deliveries, and events that have none left. Returns the number of removed deliveries. The events
    /// are locked first: one that gets a delivery from another transaction meanwhile stays. Attempts and waits go with
    /// the deliveries, and the ledger counts them, in the same transaction.
    func purge(sparingUndelivered: Bool, in transaction: PostgresTransaction) throws -> Int {
        var statements = [PostgresStatement(Self.lockEvents, [.numbers(ids)])]
        if !sparingUndelivered { statements.append(PostgresStatement(Self.removeWaiting, arguments)) }
        statements.append(PostgresStatement(Self.removeEnded, arguments + [.flag(sparingUndelivered)]))
        var removals = DeliveryRemovals()
        var (removed, events): ([Int64], Set<Int64>) = ([], [])
        for rows in try transaction.run(all: statements).dropFirst() {
            for row in rows {
                removed.append(try row.number(0))
                events.insert(try row.number(1))
                removals.add(1, try row.word(3), of: try row.destination(2))
            }
        }
        guard !removed.isEmpty else { return 0 }
        let unused = try transaction.run(
            all: MediaWaits.end(of: removed, in: transaction) + [
                PostgresStatement("DELETE FROM attempts WHERE delivery = ANY ($1)", [.numbers(removed)]),
                PostgresStatement(EventRemoval.unused, [.numbers(events.sorted())]),
            ]
        ).last?.map { try $0.number(0) }
        let media = unused.map { $0.isEmpty ? [] : MediaWaits.remove(events: $0, in: transaction) } ?? []
        try transaction.run(all: media + [removals.statement(in: transaction)].compactMap(\.self))
        return removed.count
    }

    // MARK: Statements

    /// Keeps the events of the deliveries `$1` while some of these move back to the queue.
    private static let keepEvents = """
        SELECT seq FROM events WHERE seq IN (SELECT event FROM deliveries WHERE id = ANY ($1)) ORDER BY seq
        FOR KEY SHARE
        """

    /// The same, for their removal.
    private static let lockEvents = """
        SELECT seq FROM events WHERE seq IN (SELECT event FROM deliveries WHERE id = ANY ($1)) ORDER BY seq
        FOR UPDATE
        """

    /// Leased deliveries get another budget as well, and keep their lease. Deliveries that wait for files stay as they
    /// are.
    private static let retryWaiting = """
        WITH free AS MATERIALIZED (
            SELECT d.id FROM queue d
            WHERE d.id = ANY ($4) AND \(DeliveryWalk.matches(state: "'waiting'"))
                AND NOT (d.begun = 0 AND (SELECT 1 FROM media_waits WHERE delivery = d.id) IS NOT NULL)
            ORDER BY d.id FOR UPDATE
        )
        UPDATE queue SET forgiven = begun, due = greatest(n.due, not_before)
        FROM unnest($4, $15) AS n (id, due) WHERE queue.id = n.id AND n.id IN (SELECT id FROM free)
        """

    /// Returns the number of moved deliveries by destination. Ordered searches notice old numbers by
    /// `destinations.requeues`; see ``LineFloors``. Their leases are numbered from the clock's milliseconds on,
    /// so that none repeats the number of a lease from before they ended.
    private static let retryDead = """
        WITH found AS MATERIALIZED (
            SELECT d.id FROM ended d WHERE d.id = ANY ($4) AND d.state = 'dead' AND \(DeliveryWalk.matches())
            ORDER BY d.id FOR UPDATE
        ), moved AS (
            DELETE FROM ended WHERE id IN (SELECT id FROM found) RETURNING *
        ), added AS (
            INSERT INTO queue (id, event, destination, due, begun, attempts, forgiven, not_before, not_after,
                order_key, variant, manual, lease, \(AttemptRecord.columns))
            OVERRIDING SYSTEM VALUE
            SELECT m.id, event, destination, greatest(n.due, not_before), begun, attempts, begun, not_before,
                not_after, order_key, variant, manual, extract(epoch FROM clock_timestamp()) * 1000,
                \(AttemptRecord.columns)
            FROM moved m JOIN unnest($4, $15) AS n (id, due) ON n.id = m.id
        ), counted AS (
            INSERT INTO destinations AS d (name, requeues)
            SELECT DISTINCT destination, 1 FROM moved WHERE order_key IS NOT NULL ORDER BY destination
            ON CONFLICT (name) DO UPDATE SET requeues = d.requeues + 1
        )
        SELECT destination, count(*) FROM moved GROUP BY destination
        """

    /// Leaves out leased deliveries. Returns number, event, destination and state, like ``removeEnded``.
    private static let removeWaiting = """
        WITH free AS MATERIALIZED (
            SELECT d.id FROM queue d
            WHERE d.id = ANY ($4) AND d.holder IS NULL AND \(DeliveryWalk.matches(state: "'waiting'"))
            ORDER BY d.id FOR UPDATE
        )
        DELETE FROM queue WHERE id IN (SELECT id FROM free) RETURNING id, event, destination, 'waiting'::text
        """

    /// `$15`: whether dead and expired deliveries are spared.
    private static let removeEnded = """
        WITH found AS MATERIALIZED (
            SELECT d.id FROM ended d
            WHERE d.id = ANY ($4) AND (NOT $15 OR d.state = 'delivered') AND \(DeliveryWalk.matches())
            ORDER BY d.id FOR UPDATE
        )
        DELETE FROM ended WHERE id IN (SELECT id FROM found) RETURNING id, event, destination, state
        """
}
