internal import CResources
import GRDB

/// The tables, and the migrations of older files: `Schema/migrations-1.sql` and the file that continues it.
enum SQLiteSchema {
    /// Each migration runs in its own transaction. GRDB records its name in the file, so it runs once. A migration that
    /// fails leaves the file as the previous migration left it.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (name, sql) in migrations { migrator.registerMigration(name) { try $0.execute(sql: sql) } }
        return migrator
    }

    /// In the order in which they are applied. A line of the files names each.
    private static let migrations = [sb_migrations_1_sql(), sb_migrations_2_sql()].flatMap { text in
        String(cString: text).split(separator: "\n-- migration: ").dropFirst().map { migration in
            let parts = migration.split(separator: "\n", maxSplits: 1)
            return (name: String(parts[0]), sql: String(parts[1]))
        }
    }
}
