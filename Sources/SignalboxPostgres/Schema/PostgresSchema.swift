import Foundation

/// The tables, and the migrations of older databases. Times are `bigint`, in milliseconds since 1970. Texts compare by
/// byte. There are no foreign keys and no triggers: both lock rows that other nodes write.
enum PostgresSchema {
    /// In the order in which they are applied. A published migration does not change.
    private static let migrations: [(name: String, sql: [String])] = [("1", first)]

    private static let first = core + operators + media + inApp

    /// Applies the pending migrations, each in a transaction of its own. One process at a time migrates; others wait.
    static func migrate(_ connection: PostgresConnection) throws {
        for migration in migrations {
            _ = try connection.run("BEGIN")
            _ = try connection.run("SELECT pg_advisory_xact_lock(7239874421)")
            _ = try connection.run(
                "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())")
            let isNew = try connection.run("SELECT 1 FROM migrations WHERE name = $1", [.text(migration.name)]).isEmpty
            if isNew {
                for statement in migration.sql { _ = try connection.run(statement) }
                _ = try connection.run("INSERT INTO migrations (name) VALUES ($1)", [.text(migration.name)])
            }
            _ = try connection.run("COMMIT")
        }
    }
}
