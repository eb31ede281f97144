import Foundation
import SignalboxStore

/// The statements that end leases, one for each kind of end. Each accepts any number of leases, in the order of their
/// deliveries, and returns the deliveries whose lease was still held.
///
/// A lease is held while its row names this node and its number, which no other lease of the delivery has. So a
/// settlement of an earlier lease changes no row, even if another node holds the delivery now.
enum SettlementStatement {
    /// A settlement of an attempt that was made.
    struct Made {
        let lease: Lease
        /// The state of a delivery that ends; `waiting` for a retry.
        let state: DeliveryRecord.State
        /// When the delivery ended, or when its next attempt is due.
        let due: Date
        /// Of the HTTP response; nil without one.
        let status: Int?
        /// For operators; nil for a delivered event.
        let reason: String?
        /// Nil if no request was made: the row then has no times of an attempt.
        let attempt: Attempt?
    }

    /// Ends deliveries with their attempt. A delivery that expires with its only attempt stays in the queue, and is not
    /// returned, if an operator allowed another attempt meanwhile.
    static func ended(_ ends: [Made], node: Int64) -> PostgresStatement {
        PostgresStatement(ended, arguments(of: ends, node: node))
    }

    /// Makes deliveries wait for another attempt.
    static func retried(_ retries: [Made], node: Int64) -> PostgresStatement {
        PostgresStatement(retried, arguments(of: retries, node: node))
    }

    /// Ends leases whose attempt was not made. The number of the attempt is used again. Such an attempt cannot be
    /// forgiven. `due`, `reason`: of a postponement; nil leaves them as they are. An attempt that was made keeps its
    /// own reason.
    static func returned(_ returns: [(lease: Lease, due: Date?, reason: String?)], node: Int64) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE queue q SET holder = NULL, begun = q.attempts, forgiven = least(q.forgiven, q.attempts),
                due = coalesce(i.due, q.due),
                reason = CASE WHEN q.attempts = 0 THEN coalesce(i.reason, q.reason) ELSE q.reason END
            FROM unnest($2, $3, $4, $5) AS i (id, lease, due, reason) WHERE \(held) RETURNING q.id
            """,
            [
                .number(node), .numbers(returns.map(\.lease.delivery)),
                .numbers(returns.map { Int64($0.lease.fence.number) }), .numbers(returns.map { $0.due?.milliseconds }),
                .texts(returns.map(\.reason)),
            ])
    }

    /// Ends deliveries whose time was over before the attempt. Counts no attempt.
    static func expired(_ leases: [Lease], node: Int64, at now: Date) -> PostgresStatement {
        PostgresStatement(
            """
            WITH gone AS (
                DELETE FROM queue q USING unnest($2, $3) AS i (id, lease) WHERE \(held) RETURNING q.*
            ), over AS (
                INSERT INTO ended (id, event, destination, state, due, begun, attempts, forgiven, not_before, not_after,
                    order_key, variant, manual, \(AttemptRecord.columns))
                SELECT id, event, destination, 'expired', $4, attempts, attempts, least(forgiven, attempts), not_before,
                    not_after, order_key, variant, manual, \(AttemptRecord.columns)
                FROM gone
            )
            SELECT id FROM gone
            """,
            [
                .number(node), .numbers(leases.map(\.delivery)), .numbers(leases.map { Int64($0.fence.number) }),
                .time(now),
            ])
    }

    /// Leaves the primary key as the only index that serves it; `$2` has the numbers. The planner cannot know the size
    /// of the index of holders, because it plans while the table may be empty.
    private static let held = "q.id = i.id AND q.id = ANY ($2) AND coalesce(q.holder, 0) = $1 AND q.lease = i.lease"

    /// The arguments as rows, one for each settlement. All arrays have the same length.
    private static let input = """
        unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            AS i (id, lease, state, due, status, reason, started_at, duration, error, remote, excerpt, exchange)
        """

    /// Deletes from `queue` and inserts into `ended` in one statement, with the earlier attempt copied to `attempts`.
    /// The new row has `begun` as its number of attempts.
    static let ended = """
        WITH gone AS (
            DELETE FROM queue q USING \(input)
            WHERE \(held) AND (i.state <> 'expired' OR q.begun > q.forgiven)
            RETURNING q.*, i.state, i.due AS ended_at, \(renamed)
        ), \(EndStatement.kept("gone")), over AS (
            INSERT INTO ended (id, event, destination, state, due, begun, attempts, forgiven, not_before, not_after,
                order_key, variant, manual, \(AttemptRecord.columns))
            SELECT id, event, destination, state, ended_at, begun, begun, forgiven, not_before, not_after, order_key,
                variant, manual, \(names { "new_\($0)" })
            FROM gone
        )
        SELECT id FROM gone
        """

    /// Only a row with an earlier attempt is locked first, to copy that attempt unchanged. The copies are made before
    /// the update: a statement cannot lock a row that it has changed.
    private static let retried = """
        WITH former AS MATERIALIZED (
            SELECT q.* FROM queue q, unnest($2, $3) AS i (id, lease) WHERE \(held) AND q.attempts > 0 FOR UPDATE OF q
        ), \(EndStatement.kept("former"))
        UPDATE queue q SET holder = NULL, due = i.due, attempts = q.begun, \(names { "\($0) = i.\($0)" })
        FROM \(input) WHERE \(held) AND (SELECT count(*) FROM kept) >= 0 RETURNING q.id
        """

    /// The columns of the new attempt, next to the old ones of the same names.
    private static let renamed = names { "i.\($0) AS new_\($0)" }

    /// The columns of an attempt, each as `each` writes it.
    private static func names(_ each: (String) -> String) -> String {
        AttemptRecord.columns.split(separator: ", ").map { each(String($0)) }.joined(separator: ", ")
    }

    /// In the order of ``input``, after the node as `$1`. An empty excerpt is stored as NULL. Durations are in
    /// milliseconds.
    private static func arguments(of made: [Made], node: Int64) -> [PostgresValue] {
        [
            .number(node), .numbers(made.map(\.lease.delivery)), .numbers(made.map { Int64($0.lease.fence.number) }),
            .texts(made.map(\.state.rawValue)), .numbers(made.map(\.due.milliseconds)),
            .numbers(made.map { $0.status.map { Int64($0) } }), .texts(made.map(\.reason)),
            .numbers(made.map { $0.attempt?.startedAt.milliseconds }),
            .numbers(made.map { made in made.attempt.map { Int64($0.duration / .milliseconds(1)) } }),
            .texts(made.map { $0.attempt?.error }), .texts(made.map { $0.attempt?.remote }),
            .manyBytes(made.map { made in made.attempt.flatMap { $0.excerpt.isEmpty ? nil : $0.excerpt } }),
            .manyBytes(made.map { $0.attempt?.exchange }),
        ]
    }
}
