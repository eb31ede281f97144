import SignalboxNotification
import SignalboxStore

/// The statement that leases due deliveries of one destination: it finds and locks free rows, ends those that have
/// expired, records interrupted attempts, begins the next attempt of the others, and returns all that a lease needs.
///
/// Everything after the search reads the locked rows, not the snapshot: of a row that changed after the statement
/// began, it sees the present version.
enum ClaimStatement {
    /// Oldest first. Rows that another transaction has locked are left to it. Rows with an order key are left to
    /// ordered claims: they were accepted under a config that orders the destination, which other nodes may still have.
    static func unordered(_ order: ClaimOrder, node: Int64, at now: Int64) -> PostgresStatement {
        PostgresStatement(
            unordered,
            [
                .text(order.destination.name), .number(now), .number(Int64(order.limit)), .number(node),
                .numbers(order.unreadable), .time(order.dueSince),
            ])
    }

    /// The first delivery of each key, if it is due and none of its key is leased, and deliveries without a key. Each
    /// kind may take half of the limit, and more if the other kind has fewer. An odd limit gives one more to a kind at
    /// random, so that a limit of 1 serves both.
    ///
    /// The search steps from key to key in an index, so that it never reads the deliveries behind the first one of a
    /// key. It skips entries below the floor of the order; see ``LineFloors``. It looks at ``mostSteps`` keys, or at
    /// ``mostStepsBesideLoose`` when deliveries without a key can fill the limit. `after`: the key before the first
    /// step; nil begins with the first key. `upTo`: the last key to look at.
    ///
    /// Follows ``lock(_:)`` of the destination: the snapshot of this statement then contains all leases. Finds nothing
    /// if the lock was not free.
    static func ordered(
        _ order: ClaimOrder, limit: Int, after: String?, upTo: String?, node: Int64, at now: Int64
    ) -> PostgresStatement {
        PostgresStatement(
            after == nil ? orderedFromStart : orderedAfter,
            [
                .text(order.destination.name), .number(now), .number(Int64(limit)), .number(node),
                .numbers(order.unreadable), .text(after ?? ""), .text(upTo), .number(mostSteps),
                .number(mostStepsBesideLoose), .number(order.floor.number), .number(order.floor.requeues),
            ])
    }

    /// Makes claims of one ordered destination take turns among all nodes, until the end of the transaction. A lock of
    /// the server's memory: a locked row would be a write. Does not wait, because other destinations share the
    /// transaction, and a node that was stopped keeps the lock. Returns whether the lock was free, `true` or `false`,
    /// and the last number of a delivery that was assigned.
    static func lock(_ destination: DestinationName) -> PostgresStatement {
        PostgresStatement(lock, [.destination(destination)])
    }

    private static let lock = """
        SELECT set_config('signalbox.has_lock',
                pg_try_advisory_xact_lock(hashtext(current_schema()), hashtext($1))::text, true),
            coalesce(pg_sequence_last_value(pg_get_serial_sequence('queue', 'id')::regclass), 0)
        """
    private static let hasLock = "current_setting('signalbox.has_lock') = 'true'"

    /// When the next free delivery of a destination that is not due yet becomes due, and whether one with an order key
    /// is due.
    static func nextDue(_ destination: DestinationName, after now: Int64) -> PostgresStatement {
        PostgresStatement(nextDue, [.destination(destination), .number(now)])
    }

    static let nextDue = """
        SELECT least(
            (\(nextLoose)),
            (SELECT min(due) FROM queue
                WHERE holder IS NULL AND order_key IS NOT NULL AND destination = $1 AND due > $2)),
            (SELECT 1 FROM queue
                WHERE holder IS NULL AND order_key IS NOT NULL AND destination = $1 AND due <= $2 LIMIT 1) IS NOT NULL
        """

    /// When the next delivery without an order key becomes due, after an ordered search.
    static func nextLoose(_ destination: DestinationName, after now: Int64) -> PostgresStatement {
        PostgresStatement(nextLoose, [.destination(destination), .number(now)])
    }

    private static let nextLoose =
        "SELECT min(due) FROM queue WHERE holder IS NULL AND order_key IS NULL AND destination = $1 AND due > $2"

    /// The floor of the destination `$1`, and its count of requeues. A floor for another count is none.
    private static func floor(number: String, requeues: String) -> String {
        """
        SELECT CASE WHEN requeues = \(requeues) THEN \(number) ELSE 0 END AS number, requeues
            FROM (SELECT coalesce((SELECT requeues FROM destinations WHERE name = $1), 0) AS requeues) d
        """
    }

    /// The most keys that one statement looks at, so that it takes milliseconds even if all keys are blocked.
    static let mostSteps: Int64 = 4000
    /// The same, if enough deliveries without a key are due. They are not delayed by keys that are blocked.
    static let mostStepsBesideLoose: Int64 = 200

    /// Rows without an order key that are due.
    private static let free = """
        FROM queue WHERE holder IS NULL AND order_key IS NULL AND destination = $1 AND due <= $2 AND id <> ALL ($5)
        """

    static let unordered = """
        WITH due AS MATERIALIZED (
            SELECT * \(free) AND due >= $6 ORDER BY due, id LIMIT $3 FOR UPDATE SKIP LOCKED
        ),
        walked AS (SELECT NULL::text AS last_key, false AS is_cut),
        \(leasing())
        ORDER BY j.due, j.id
        """

    private static let orderedFromStart = ordered(first: ">=")
    private static let orderedAfter = ordered(first: ">")

    /// `line`: the keys, with the due time of a first delivery that is not due, and the number of ready ones up to
    /// each. `loose`: deliveries without a key, up to the limit minus the `share` of the keys. `heads`: the first
    /// deliveries of keys, up to the limit minus the rows of `loose`.
    private static func ordered(first: String) -> String {
        """
        WITH RECURSIVE floor AS MATERIALIZED (\(floor(number: "$10", requeues: "$11"))),
        bound AS MATERIALIZED (
            SELECT CASE WHEN count(*) < $3 THEN $8 ELSE $9 END AS steps FROM (SELECT \(free) AND \(hasLock) LIMIT $3) f
        ),
        line (key, id, is_ready, later, step, found) AS (
            SELECT key, id, is_ready, later, 1::bigint, is_ready::int
            FROM (\(head("\(first) $6"))) n WHERE \(hasLock)
            UNION ALL
            SELECT n.key, n.id, n.is_ready, n.later, l.step + 1, l.found + n.is_ready::int
            FROM line l CROSS JOIN LATERAL (\(head("> l.key"))) n
            WHERE l.step < (SELECT steps FROM bound) AND l.found < $3
        ),
        share AS MATERIALIZED (
            SELECT least(coalesce(max(found), 0), floor($3 / 2.0 + random())::int) AS keyed FROM line
        ),
        loose AS MATERIALIZED (
            SELECT * \(free) AND \(hasLock)
            ORDER BY due, id LIMIT (SELECT $3 - keyed FROM share) FOR UPDATE SKIP LOCKED
        ),
        seen AS MATERIALIZED (SELECT * FROM line WHERE found <= $3 - (SELECT count(*) FROM loose)),
        heads AS MATERIALIZED (
            SELECT q.* FROM seen l JOIN queue q ON q.id = l.id
            WHERE l.is_ready AND q.holder IS NULL AND q.due <= $2 FOR UPDATE OF q SKIP LOCKED
        ),
        due AS MATERIALIZED (SELECT * FROM loose UNION ALL SELECT * FROM heads),
        walked AS (
            SELECT coalesce((SELECT max(key) FROM seen), nullif($6, '')) AS last_key,
                count(*) > (SELECT count(*) FROM seen) OR count(*) >= (SELECT steps FROM bound) AS is_cut,
                min(id) AS first_id, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
                pg_current_xact_id()::text::bigint AS own, (SELECT requeues FROM floor) AS requeues,
                min(later) AS next_due, coalesce(bool_or(later IS NULL), false) AS has_keys, max(key) AS passed,
                coalesce(max(step) < (SELECT steps FROM bound) AND max(found) < $3, true) AS has_ended
            FROM line
        ),
        \(leasing(", w.first_id, w.oldest, w.own, w.requeues, w.next_due, w.has_keys, w.passed, w.has_ended"))
        ORDER BY j.order_key NULLS FIRST, j.id
        """
    }

    /// The first delivery of the first key that compares so.
    private static func head(_ comparison: String) -> String {
        """
        SELECT h.order_key AS key, h.id, h.holder IS NULL AND h.due <= $2 AND h.id <> ALL ($5) AND NOT EXISTS (
                SELECT FROM queue b WHERE b.destination = $1 AND b.order_key = h.order_key AND b.holder IS NOT NULL
                    AND b.id >= (SELECT number FROM floor)
            ) AS is_ready, CASE WHEN h.holder IS NULL AND h.due > $2 THEN h.due END AS later
        FROM (
            SELECT order_key, id, due, holder FROM queue
            WHERE destination = $1 AND order_key \(comparison) AND id >= (SELECT number FROM floor)
            ORDER BY order_key, id LIMIT 1
        ) h WHERE $7::text IS NULL OR h.order_key <= $7
        """
    }

    /// The statements after the search, whose rows are in `due`. A delivery whose event a route is yet to transform
    /// waits further: its stored form may contain data that must not be sent. `columns`: further ones of the result.
    private static func leasing(_ columns: String = "") -> String {
        """
        judged AS MATERIALIZED (
            SELECT d.*, e.id::text AS event_id, greatest(e.accepted_at, coalesce(d.not_before, 0)) AS ready_at,
                coalesce(v.body, e.body) AS body, e.payload, d.begun > d.attempts AS is_interrupted,
                coalesce(d.not_after <= $2 AND (d.not_after > 0 OR d.attempts > d.forgiven), false) AS is_over,
                e.seq IS NULL OR (d.variant IS NOT NULL AND v.id IS NULL) AS is_damaged,
                d.begun = 0 AND EXISTS (
                    SELECT FROM media_waits w WHERE w.delivery = d.id AND w.route IS NOT NULL
                ) AS is_unready
            FROM due d LEFT JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
        ),
        \(EndStatement.kept("judged WHERE is_interrupted AND (is_over OR NOT (is_damaged OR is_unready))")),
        gone AS (DELETE FROM queue q USING judged j WHERE q.id = j.id AND j.is_over),
        over AS (\(EndStatement.expired("judged WHERE is_over"))),
        leased AS (
            UPDATE queue q SET holder = $4, lease = q.lease + 1, begun = greatest(q.begun, q.attempts) + 1,
                attempts = greatest(q.begun, q.attempts),
                forgiven = CASE WHEN j.is_interrupted AND q.not_after = 0 THEN q.begun ELSE q.forgiven END,
                \(EndStatement.interrupted("q", when: "j.is_interrupted", assigning: true))
            FROM judged j WHERE q.id = j.id AND NOT (j.is_over OR j.is_damaged OR j.is_unready)
        ),
        later AS (
            UPDATE queue q SET due = $2 + \(StoreLimits.releaseGrace) FROM judged j
            WHERE q.id = j.id AND j.is_unready AND NOT (j.is_over OR j.is_damaged)
        )
        SELECT w.last_key, w.is_cut, j.id, j.destination, j.event_id, j.body, j.payload,
            greatest(j.begun, j.attempts),
            CASE WHEN j.is_interrupted AND j.not_after = 0 THEN j.begun ELSE j.forgiven END,
            j.not_after, j.order_key, j.ready_at, j.is_over, j.is_damaged,
            j.is_unready, j.due, j.lease + 1\(columns)
        FROM walked w LEFT JOIN judged j ON true
        """
    }
}

/// Parts of statements that end deliveries without an attempt.
enum EndStatement {
    /// Copies the last attempt of rows to the earlier attempts.
    static func kept(_ rows: String) -> String {
        """
        kept AS (
            INSERT INTO attempts (delivery, number, \(AttemptRecord.columns))
            SELECT id, attempts, \(AttemptRecord.columns) FROM (SELECT * FROM \(rows)) k WHERE attempts > 0
            ON CONFLICT DO NOTHING RETURNING delivery
        )
        """
    }

    /// Adds rows to `ended`, at `$2`. The rows have `is_interrupted`; an attempt of a process that ended during it is
    /// their last one.
    static func expired(_ rows: String) -> String {
        """
        INSERT INTO ended (id, event, destination, state, due, begun, attempts, forgiven, not_before, not_after,
            order_key, variant, manual, \(AttemptRecord.columns))
        SELECT id, event, destination, 'expired', $2, begun, greatest(begun, attempts), forgiven, not_before, not_after,
            order_key, variant, manual, \(interrupted("r", when: "is_interrupted", assigning: false))
        FROM (SELECT * FROM \(rows)) r
        """
    }

    /// The columns of the last attempt: as they are, or of an attempt that was interrupted. The destination may have
    /// received it, so it counts. It has neither times nor a status.
    static func interrupted(_ row: String, when condition: String, assigning: Bool) -> String {
        let values = [
            "error": "'interrupted'",
            "reason": "'the gateway may have ended during this attempt; its outcome is unknown'",
        ]
        return AttemptRecord.columns.split(separator: ", ").map { column in
            let value = "CASE WHEN \(condition) THEN \(values[String(column)] ?? "NULL") ELSE \(row).\(column) END"
            return assigning ? "\(column) = \(value)" : value
        }.joined(separator: ", ")
    }
}
