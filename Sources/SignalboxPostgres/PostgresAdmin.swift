package import SignalboxStore

/// Statements that tests and the command line run on their own.
package struct PostgresAdmin {
    private let connection: PostgresConnection

    /// Connects, and blocks meanwhile. Throws ``StoreError/unreachable(reason:)`` for a database that does not answer.
    package init(_ target: PostgresTarget) throws(StoreError) {
        do { connection = try PostgresConnection(target) } catch { throw StoreError(error) }
    }

    /// Runs one statement. `sql`: never contains input. In a transaction of its own; its rows are dropped. Blocks.
    package func run(_ sql: String) throws(StoreError) {
        do { _ = try connection.run(sql) } catch { throw StoreError(error) }
    }

    /// The size of the rows of the schema, in bytes, without indexes and free space: the server keeps free space for
    /// later rows. Reads every row. 0 for a schema without tables. Blocks, and fails after 10 s for a large database.
    package func size() throws(StoreError) -> Int64 {
        do {
            let tables = try connection.run(
                """
                SELECT quote_ident(relname) FROM pg_class
                WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                """
            ).map { try $0.text(0) }
            let sums = tables.map { "(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM \($0) t)" }
            guard !sums.isEmpty else { return 0 }
            return try connection.run("SELECT (\(sums.joined(separator: " + ")))::bigint").first?.number(0) ?? 0
        } catch { throw StoreError(error) }
    }
}

extension PostgresStore {
    /// Declares every node of a database gone. For tests: as if their processes had ended long ago. Has no effect on a
    /// database without tables. Fails if a transaction of a node holds one of the rows for 2 s.
    package static func declareAllGone(in target: PostgresTarget) throws(StoreError) {
        do {
            let connection = try PostgresConnection(target)
            guard try connection.run("SELECT to_regclass('nodes') IS NOT NULL").first?.flag(0) == true else { return }
            _ = try connection.run("UPDATE nodes SET is_live = false")
            _ = try connection.run("UPDATE marks SET is_closed = true")
            _ = try connection.run("UPDATE queue SET holder = NULL WHERE holder IS NOT NULL")
        } catch { throw StoreError(error) }
    }
}
