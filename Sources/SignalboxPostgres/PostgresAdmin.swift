import Foundation
package import SignalboxStore

/// Statements that tests and the command line run on their own.
package struct PostgresAdmin {
    private let connection: PostgresConnection

    package init(_ target: PostgresTarget) throws(StoreError) {
        do { connection = try PostgresConnection(target) } catch { throw StoreError(error) }
    }

    /// Runs one statement. `sql`: never contains input.
    package func run(_ sql: String) throws(StoreError) {
        do { _ = try connection.run(sql) } catch { throw StoreError(error) }
    }

    /// The size of the rows of the schema with their indexes, in bytes. Returns the free space of each table to the
    /// file system first, which a gateway leaves to later rows. The first page of each file does not count: indexes
    /// without rows have it too. Needs no other use of the tables meanwhile.
    package func size() throws(StoreError) -> Int64 {
        do {
            let tables = try connection.run(
                """
                SELECT quote_ident(relname) FROM pg_class
                WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                """
            ).map { try $0.text(0) }
            try waitForSnapshots()
            _ = try connection.run("VACUUM (FULL) \(tables.joined(separator: ", "))")
            let rows = try connection.run(
                """
                SELECT coalesce(sum(greatest(pg_relation_size(f.oid) - current_setting('block_size')::bigint, 0)), 0)
                    ::bigint
                FROM pg_class t JOIN pg_class f ON f.oid IN (t.oid, t.reltoastrelid)
                    OR f.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN (t.oid, t.reltoastrelid))
                WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r'
                """)
            return try rows.first?.number(0) ?? 0
        } catch { throw StoreError(error) }
    }

    /// Waits until no snapshot of the database is older than now, a minute at most: until then the server keeps removed
    /// rows.
    private func waitForSnapshots() throws {
        let now = try connection.run("SELECT (pg_current_xact_id()::text::bigint % 4294967296)::text").first?.text(0)
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let older = try connection.run(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                    AND age(backend_xmin) > age($1::text::xid)
                """, [.text(now)]
            ).first?.number(0)
            guard older != 0 else { return }
            usleep(10_000)
        }
    }
}

extension PostgresStore {
    /// Declares every node of a database gone. For tests: as if their processes had ended long ago.
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
