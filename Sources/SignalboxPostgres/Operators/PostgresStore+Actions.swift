import Foundation
package import SignalboxStore

/// The log of actions. Rows are added, and removed by upkeep only.
extension PostgresStore {
    /// Durable when it returns. In a transaction of its own.
    package func record(_ action: OperatorAction, count: Int?) async throws(StoreError) {
        try await writer(.others).write { transaction in _ = try self.record(action, count: count, in: transaction) }
    }

    /// Adds a row to the log, in the transaction of the change. Returns its number.
    @discardableResult
    func record(_ action: OperatorAction, count: Int?, in transaction: PostgresTransaction) throws -> Int64 {
        let statement = try Self.recording(action, count: count, at: transaction.now)
        guard let row = try transaction.run(statement.sql, statement.values).first else {
            throw DamagedValue("an action has no number")
        }
        return try row.number(0)
    }

    /// The statement that adds a row to the log, for callers that send it together with others. Returns its number.
    /// `count`: of changed objects; nil if the operation has none.
    static func recording(_ action: OperatorAction, count: Int?, at now: Date) throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO actions (at, count, actor, role, remote, via, operation, target, parameters, reason, result)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id
            """,
            [
                .time(now), .number(count.map { Int64($0) }), .text(action.actor), .text(action.role),
                .text(action.remote), .text(action.via.rawValue), .text(action.operation), .text(action.target),
                .text(try action.storedParameters()), .text(action.reason), .text(action.result),
            ])
    }

    /// Walks down the primary key. One snapshot. Without an index for the conditions, so `examining` bounds the cost.
    package func actionPage(
        _ filter: ActionFilter, limit: Int, examining rows: Int
    ) async throws(StoreError) -> StorePage<ActionRecord> {
        try await readers.snapshot { connection in
            var scan = BoundedScan(limit: limit, examining: rows)
            while let wanted = scan.wanted {
                let rows = try connection.run(
                    Self.scanActions,
                    [
                        .text(filter.actor), .text(filter.operation), .text(filter.target), .time(filter.since),
                        .time(filter.until), .number(scan.last ?? filter.before ?? .max), .number(Int64(wanted)),
                    ])
                scan.add(try rows.map { (try $0.number(0), try $0.flag(1)) }, of: wanted)
            }
            let records =
                try scan.ids.isEmpty
                ? [] : connection.run(Self.readActions, [.numbers(scan.ids)]).map { try ActionRecord($0) }
            return StorePage(records: records, next: scan.next, isComplete: scan.isComplete)
        }
    }

    /// NULL makes a condition match every row. `$6`: an exclusive upper bound of the numbers.
    private static let scanActions = """
        SELECT id, ($1 IS NULL OR actor = $1) AND ($2 IS NULL OR operation = $2)
            AND ($3 IS NULL OR target IS NOT DISTINCT FROM $3) AND ($4 IS NULL OR at >= $4) AND ($5 IS NULL OR at < $5)
        FROM actions WHERE id < $6 ORDER BY id DESC LIMIT $7
        """

    private static let readActions = """
        SELECT \(ActionRecord.columns) FROM actions WHERE id = ANY($1) ORDER BY id DESC
        """
}
