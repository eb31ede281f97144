import Foundation
import GRDB
package import SignalboxStore

/// The log of actions. Rows are added, and removed by upkeep only.
extension SQLiteQueue {
    /// Durable when it returns. In a transaction of its own, unlike the actions of changes.
    package func record(_ action: OperatorAction, count: Int?) async throws(StoreError) {
        try await write(requiringPlace: true) { db, now in _ = try db.record(action, count: count, at: now) }
    }

    /// Walks down the primary key. One snapshot. Conditions without an index are evaluated row by row, which
    /// `examining` bounds.
    package func actionPage(
        _ filter: ActionFilter, limit: Int, examining rows: Int
    ) async throws(StoreError) -> StorePage<ActionRecord> {
        try await file.read { db in
            let (condition, arguments) = filter.sql
            let found = try BoundedScan(
                "SELECT id, (\(condition)) FROM actions WHERE id < ? ORDER BY id DESC",
                arguments + [filter.before ?? Int64.max], limit: limit, examining: rows, in: db)
            let records = try found.ids.compactMap { id in
                try db.row("SELECT \(ActionRecord.columns) FROM actions WHERE id = ?", [id])
                    .map { try ActionRecord($0) }
            }
            return StorePage(records: records, next: found.next, isComplete: found.isComplete)
        }
    }

    /// Keeps the newest rows. Numbers have no gaps, because only the oldest rows are removed.
    func forgetActions() async throws(StoreError) {
        try await write { db, _ in
            try db.run("DELETE FROM actions WHERE id <= (SELECT max(id) FROM actions) - ?", [StoreLimits.actions])
        }
    }
}

extension Database {
    /// Adds a row to the log, in the transaction of the change. Returns its number.
    func record(_ action: OperatorAction, count: Int?, at now: Date) throws -> Int64 {
        try run(
            """
            INSERT INTO actions (at, count, actor, role, remote, via, operation, target, parameters, reason, result)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                now.milliseconds, count, action.actor, action.role, action.remote, action.via.rawValue,
                action.operation, action.target, try action.storedParameters(), action.reason, action.result,
            ])
        return lastInsertedRowID
    }
}

extension ActionFilter {
    /// A condition over `actions`. An action without a target does not match a filter that names one.
    fileprivate var sql: (condition: String, arguments: StatementArguments) {
        var conditions = SQLConditions()
        conditions.add("actor = ?", actor)
        conditions.add("operation = ?", operation)
        conditions.add("target = ?", target)
        conditions.add("at >= ?", since?.milliseconds)
        conditions.add("at < ?", until?.milliseconds)
        return conditions.sql
    }
}
