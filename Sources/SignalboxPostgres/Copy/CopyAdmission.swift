import Foundation
import SignalboxStore

/// The checks before a copy.
struct CopyAdmission {
    private let target: PostgresTarget
    private let source: CopySource
    private let connection: PostgresConnection

    init(_ target: PostgresTarget, _ source: CopySource, _ connection: PostgresConnection) {
        (self.target, self.source, self.connection) = (target, source, connection)
    }

    /// The error of a gateway that opens or writes a database that is being filled.
    static func incomplete(_ target: PostgresTarget) -> StoreError {
        .refused(
            reason: "the copy into \(target.place) is not complete",
            remedy: "run signalbox store copy again, or drop the tables")
    }

    /// Throws while a node is alive. A node that was killed counts for 15 s by the server's clock. A heartbeat of the
    /// future does not count: the clock was set back after it. Throws ``StoreError/refused(reason:remedy:)``, like
    /// every check of this type.
    private func refuseGateways() throws {
        let isUsed =
            try connection.run(
                """
                SELECT 1 FROM nodes
                WHERE is_live AND seen_at BETWEEN clock_timestamp() - interval '15 s' AND clock_timestamp() LIMIT 1
                """
            ).first != nil
        guard isUsed else { return }
        throw StoreError.refused(
            reason: "a gateway or a command uses \(target.place)",
            remedy: "stop the gateways of this database, wait 15 s, and copy again")
    }

    /// Records a new copy, and returns nil; or returns the last table and position of the same copy. Throws while a
    /// node is alive, for another queue, for a source that changed since, for a copy that is complete, and for a
    /// database with content of its own.
    ///
    /// No node writes until the copy is complete: all nodes are declared gone, so that one that was suspended cannot
    /// continue, and ``NodeMembership`` registers no other one. The lock of the table makes a registration commit
    /// before the checks, or see the copy.
    func begin() throws -> (table: String, position: CopyPosition)? {
        _ = try connection.run("BEGIN")
        do {
            _ = try connection.run("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE")
            try refuseGateways()
            let start = try record()
            _ = try connection.run("UPDATE nodes SET is_live = false WHERE is_live")
            _ = try connection.run("UPDATE marks SET is_closed = true WHERE NOT is_closed")
            _ = try connection.run("COMMIT")
            return start
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private func record() throws -> (table: String, position: CopyPosition)? {
        let columns = "source, version, is_done, table_name, position"
        let row = try connection.run("SELECT \(columns) FROM copies").first
        guard let row else {
            try refuseContent()
            _ = try connection.run(
                "INSERT INTO copies (source, version) VALUES ($1, $2)",
                [.text(source.identity), .text(source.version)])
            return nil
        }
        guard try row.text(0) == source.identity else { throw refusal("\(target.place) has a copy of another queue") }
        guard try !row.flag(2) else {
            // Gateways may use it since.
            throw StoreError.refused(
                reason: "this queue was copied into \(target.place) already",
                remedy: "start the gateways on it; for a second copy, name another database or schema")
        }
        guard try row.text(1) == source.version else {
            throw refusal("the queue has changed since its copy into \(target.place) began")
        }
        guard let table = try row.optionalText(3), let position = try row.optionalBytes(4) else { return nil }
        return (table, try JSONDecoder().decode(CopyPosition.self, from: Data(position)))
    }

    /// Throws for a database that a gateway has written. Reads at most one row of each table.
    private func refuseContent() throws {
        let tables = [
            "events", "queue", "ended", "ledger", "actions", "media", "files", "inapp_messages", "inapp_devices",
        ]
        let isFilled = tables.map { "EXISTS (SELECT 1 FROM \($0))" }.joined(separator: " OR ")
        guard try connection.run("SELECT \(isFilled)").first?.flag(0) == true else { return }
        throw refusal("\(target.place) has events or records of its own")
    }

    private func refusal(_ reason: String) -> StoreError {
        .refused(reason: reason, remedy: "drop its tables, or name another database or schema, and copy again")
    }
}
