import GRDB

/// The tables, and how older files are brought up to date. Times are milliseconds since 1970.
enum SQLiteSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: first) }
        migrator.registerMigration("2") { try $0.execute(sql: second) }
        migrator.registerMigration("withheld") { try $0.execute(sql: withheld) }
        migrator.registerMigration("variants") { try $0.execute(sql: variants) }
        migrator.registerMigration("categories") { try $0.execute(sql: categories) }
        migrator.registerMigration("media") { try $0.execute(sql: media) }
        migrator.registerMigration("undelivered") { try $0.execute(sql: undelivered) }
        migrator.registerMigration("backoffs") { try $0.execute(sql: backoffs) }
        migrator.registerMigration("identity") { try $0.execute(sql: identity) }
        return migrator
    }

    private static let first = """
        CREATE TABLE events (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            source TEXT NOT NULL,
            subject TEXT NOT NULL,
            accepted_at INTEGER NOT NULL,
            body BLOB NOT NULL -- as sent
        );
        CREATE TABLE deliveries (
            id INTEGER PRIMARY KEY,
            event INTEGER NOT NULL REFERENCES events(seq),
            destination TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'waiting'
                CHECK (state IN ('waiting', 'delivered', 'dead', 'expired')),
            due INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            status INTEGER, -- HTTP, of the last attempt
            reason TEXT -- why the last attempt failed
        );
        CREATE INDEX deliveries_waiting ON deliveries(destination, due, id) WHERE state = 'waiting';
        CREATE INDEX deliveries_dead ON deliveries(id) WHERE state = 'dead';
        CREATE INDEX deliveries_event ON deliveries(event);
        """

    /// The last attempt stands with its delivery, so that one that succeeds at once costs no row of its own; those before
    /// it stand in `attempts`.
    private static let second = """
        ALTER TABLE events ADD COLUMN payload BLOB; -- as it came, for destinations that want it
        ALTER TABLE deliveries ADD COLUMN not_before INTEGER; -- until then it is not sent
        ALTER TABLE deliveries ADD COLUMN not_after INTEGER; -- from then on it is not sent any more
        ALTER TABLE deliveries ADD COLUMN order_key TEXT; -- one after the other among equals
        ALTER TABLE deliveries ADD COLUMN begun INTEGER NOT NULL DEFAULT 0; -- attempts begun, ended or not
        ALTER TABLE deliveries ADD COLUMN forgiven INTEGER NOT NULL DEFAULT 0; -- of them, those before the last `retry`
        ALTER TABLE deliveries ADD COLUMN started_at INTEGER; -- of the last attempt, as the rest
        ALTER TABLE deliveries ADD COLUMN duration INTEGER; -- milliseconds
        ALTER TABLE deliveries ADD COLUMN error TEXT; -- a short stable word, where there was no answer
        ALTER TABLE deliveries ADD COLUMN remote TEXT; -- address and port
        ALTER TABLE deliveries ADD COLUMN excerpt BLOB; -- the reply's first kilobyte
        CREATE INDEX deliveries_expiring ON deliveries(not_after)
            WHERE state = 'waiting' AND not_after IS NOT NULL;
        CREATE INDEX deliveries_ordered ON deliveries(destination, order_key, id)
            WHERE state = 'waiting' AND order_key IS NOT NULL;
        CREATE TABLE attempts (
            delivery INTEGER NOT NULL REFERENCES deliveries(id),
            number INTEGER NOT NULL,
            started_at INTEGER,
            duration INTEGER,
            status INTEGER,
            error TEXT,
            reason TEXT,
            remote TEXT,
            excerpt BLOB,
            PRIMARY KEY (delivery, number)
        ) WITHOUT ROWID;
        CREATE TABLE destinations (
            name TEXT PRIMARY KEY,
            state TEXT NOT NULL CHECK (state IN ('paused', 'disabled')),
            reason TEXT,
            since INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE ledger (
            destination TEXT PRIMARY KEY,
            accepted INTEGER NOT NULL DEFAULT 0, -- deliveries ever made
            delivered INTEGER NOT NULL DEFAULT 0, -- of those, ended so and removed since
            dead INTEGER NOT NULL DEFAULT 0,
            expired INTEGER NOT NULL DEFAULT 0,
            waiting INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        INSERT INTO ledger (destination, accepted) SELECT destination, count(*) FROM deliveries GROUP BY destination;
        CREATE TABLE requests (
            source TEXT NOT NULL,
            key TEXT NOT NULL, -- Idempotency-Key
            digest BLOB NOT NULL, -- of the request's body
            answer BLOB NOT NULL,
            status INTEGER NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (source, key)
        ) WITHOUT ROWID;
        CREATE INDEX requests_at ON requests(at);
        CREATE TABLE duplicates (
            source TEXT NOT NULL,
            key TEXT NOT NULL, -- what `dedupe.key` of the source points to
            event TEXT NOT NULL, -- id of the first that had it
            at INTEGER NOT NULL,
            PRIMARY KEY (source, key)
        ) WITHOUT ROWID;
        CREATE INDEX duplicates_at ON duplicates(at);
        """

    private static let variants = """
        CREATE TABLE variants (
            id INTEGER PRIMARY KEY,
            event INTEGER NOT NULL REFERENCES events(seq),
            body BLOB NOT NULL -- as some of its destinations get it
        );
        CREATE INDEX variants_event ON variants(event);
        ALTER TABLE deliveries ADD COLUMN variant INTEGER; -- none: the event as it is stored
        """

    private static let undelivered = """
        ALTER TABLE ledger ADD COLUMN undelivered_since INTEGER; -- when the first that was waiting was removed
        """

    private static let backoffs = """
        CREATE TABLE backoffs (
            destination TEXT PRIMARY KEY, -- one that the gateway that runs does not send to for now
            kind TEXT NOT NULL,
            reason TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    private static let withheld = """
        CREATE TABLE withheld (
            destination TEXT PRIMARY KEY, -- one that was asked for permission and has not given it
            reason TEXT NOT NULL, -- of the last time
            since INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// One row. Keeps the last numbers of removed rows, so that none is assigned again.
    private static let identity = """
        CREATE TABLE identity (
            id TEXT NOT NULL, -- random
            last_event INTEGER NOT NULL, -- the largest `events.seq` when something was last removed
            last_delivery INTEGER NOT NULL -- the same of `deliveries.id`
        );
        INSERT INTO identity VALUES (lower(hex(randomblob(16))), 0, 0);
        """

    private static let categories = """
        CREATE TABLE categories (
            identifier TEXT PRIMARY KEY,
            definition BLOB NOT NULL, -- JSON, as apps get it
            first_seen INTEGER NOT NULL,
            last_seen INTEGER NOT NULL -- to the hour
        ) WITHOUT ROWID;
        CREATE INDEX categories_seen ON categories(last_seen DESC, identifier);
        """
}
