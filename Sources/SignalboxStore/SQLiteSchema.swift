import GRDB

/// The tables, and how older files are brought up to date.
enum SQLiteSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE events (
                        seq INTEGER PRIMARY KEY,
                        id TEXT NOT NULL UNIQUE,
                        source TEXT NOT NULL,
                        subject TEXT NOT NULL,
                        accepted_at INTEGER NOT NULL, -- milliseconds since 1970
                        body BLOB NOT NULL -- as sent
                    );
                    CREATE TABLE deliveries (
                        id INTEGER PRIMARY KEY,
                        event INTEGER NOT NULL REFERENCES events(seq),
                        destination TEXT NOT NULL,
                        state TEXT NOT NULL DEFAULT 'waiting'
                            CHECK (state IN ('waiting', 'delivered', 'dead', 'expired')),
                        due INTEGER NOT NULL, -- milliseconds since 1970
                        attempts INTEGER NOT NULL DEFAULT 0,
                        status INTEGER, -- HTTP, of the last attempt
                        reason TEXT -- why the last attempt failed
                    );
                    CREATE INDEX deliveries_waiting ON deliveries(destination, due, id) WHERE state = 'waiting';
                    CREATE INDEX deliveries_dead ON deliveries(id) WHERE state = 'dead';
                    CREATE INDEX deliveries_event ON deliveries(event);
                    """)
        }
        return migrator
    }
}
