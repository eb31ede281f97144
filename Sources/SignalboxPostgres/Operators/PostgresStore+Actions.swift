import Foundation
package import SignalboxStore

/// The log of actions. Rows are added, and removed by upkeep only.
extension PostgresStore {
    package func record(_ action: OperatorAction, count: Int?) async throws(StoreError) {
        try await writer(.others).write { transaction in
            _ = try self.record(action, count: count, in: transaction)
        }
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
    static func recording(_ action: OperatorAction, count: Int?, at now: Date) throws -> PostgresStatement {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let parameters = String(decoding: try encoder.encode(action.parameters), as: UTF8.self)
        return PostgresStatement(
            """
            INSERT INTO actions (at, count, actor, role, remote, via, operation, target, parameters, reason, result)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id
            """,
            [
                .time(now), .number(count.map { Int64($0) }), .text(action.actor), .text(action.role),
                .text(action.remote), .text(action.via.rawValue), .text(action.operation), .text(action.target),
                .text(parameters), .text(action.reason), .text(action.result),
            ])
    }
}
