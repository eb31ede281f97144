internal import CResources
import Foundation

/// The tables, and the migrations of older databases. Times are `bigint`, in milliseconds since 1970. Texts compare by
/// byte. There are no foreign keys and no triggers: both lock rows that other nodes write.
///
/// A migration only adds to the tables, so that gateways of the former release continue next to new ones. A later
/// release removes what no gateway needs any longer. It first raises `meta.min_writer`, in a migration of its own, to
/// the oldest version that may write: a running gateway of an older one then writes nothing more, because each of its
/// transactions begins with a look at it; see ``PostgresWriter``.
enum PostgresSchema {
    /// In the order in which they are applied. A published migration does not change. The name identifies a migration
    /// in the table `migrations`.
    private static let migrations: [(name: String, sql: [String])] = [("1", first), ("2", second), ("3", third)]
    /// The version of this process, which `meta.min_writer` refers to.
    static var version: Int { migrations.count }
    /// The oldest version that may write tables of this version.
    private static let minWriter = 1

    /// The tables of the first release: the statements of the files in `Schema/`. The last line of a statement, and no
    /// other line, ends with a semicolon.
    private static let first = [sb_core_sql(), sb_operators_sql(), sb_media_sql(), sb_inapp_sql(), sb_copies_sql()]
        .flatMap { String(cString: $0).split(separator: ";\n").map { String($0) } }
    /// Leases get numbers of their own, and nodes tell their lanes.
    private static let second = [
        // The number of the last lease. It never goes back, unlike `begun`: a lease that is returned counts no attempt.
        "ALTER TABLE queue ADD lease bigint NOT NULL DEFAULT 0",
        // The destinations that a node delivers to; none for a gateway of the first version.
        "ALTER TABLE nodes ADD lanes text[]",
    ]

    /// Ordered searches skip numbers; see ``LineFloors``. The new index locks `queue` against writes while it is built.
    private static let third = [
        // Transactions that put deliveries with an order key back into the queue with their old numbers.
        "ALTER TABLE destinations ADD requeues bigint NOT NULL DEFAULT 0",
        // A search skips entries below a number. Takes the place of `queue_busy` for gateways of version 2, too: it
        // begins with the same columns.
        "CREATE INDEX queue_leased ON queue (destination, order_key, id) WHERE holder IS NOT NULL AND order_key IS NOT NULL",
        "DROP INDEX queue_busy",
    ]

    /// The tables of a database.
    struct Status: Sendable {
        /// Names of migrations that it lacks.
        var pending: [String] = []
        /// Names of migrations of later versions.
        var unknown: [String] = []
        /// The oldest version that may write; 0 without tables.
        var minWriter = 0

        /// Whether gateways of this version may write.
        var isTooNew: Bool { minWriter > PostgresSchema.version }
    }

    /// Reads which migrations a database has. Also reads databases of later versions. Throws a failure if the role may
    /// not read them.
    static func status(_ connection: PostgresConnection) throws -> Status {
        var status = Status()
        let exists = try connection.run(
            "SELECT to_regclass('migrations') IS NOT NULL AND to_regclass('meta') IS NOT NULL")
        guard try exists.first?.flag(0) == true else {
            status.pending = migrations.map(\.name)
            return status
        }
        let applied = try connection.run("SELECT name FROM migrations ORDER BY at, name").map { try $0.text(0) }
        status.pending = migrations.map(\.name).filter { !applied.contains($0) }
        status.unknown = applied.filter { name in !migrations.contains { $0.name == name } }
        status.minWriter = try connection.run("SELECT min_writer FROM meta").first?.count(0) ?? 0
        return status
    }

    /// Applies the pending migrations, each in a transaction of its own; returns their names. One process at a time
    /// migrates; others wait. A failure keeps the migrations before it. Waits about a minute for locks.
    @discardableResult
    static func migrate(_ connection: PostgresConnection) throws -> [String] {
        var applied: [String] = []
        for migration in migrations where try applyPatiently(migration, connection) { applied.append(migration.name) }
        return applied
    }

    /// Tries a migration again for a minute if another transaction has a table for long, such as a backup. Every
    /// statement of running gateways on the table waits behind a migration that waits, so each attempt is short.
    private static func applyPatiently(
        _ migration: (name: String, sql: [String]), _ connection: PostgresConnection
    ) throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try apply(migration, connection)
            } catch let failure as PostgresFailure where failure.isTransient && ContinuousClock.now < end {
                usleep(1_000_000)
            }
        }
    }

    /// Whether the migration was pending. Rolls back before it throws. The advisory lock ends with the transaction, and
    /// is one for all schemas of the database. Waits half a second for each table.
    private static func apply(
        _ migration: (name: String, sql: [String]), _ connection: PostgresConnection
    ) throws -> Bool {
        // An index of a large table takes its time.
        let patience = connection.patience
        connection.patience = .seconds(3600)
        defer { connection.patience = patience }
        _ = try connection.run("BEGIN")
        do {
            _ = try connection.run("SET LOCAL statement_timeout = 0")
            _ = try connection.run("SET LOCAL lock_timeout = '60s'")
            _ = try connection.run("SELECT pg_advisory_xact_lock(7239874421)")
            _ = try connection.run("SET LOCAL lock_timeout = '500ms'")
            _ = try connection.run(stay)
            _ = try connection.run(
                "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())")
            let isNew = try connection.run("SELECT 1 FROM migrations WHERE name = $1", [.text(migration.name)]).isEmpty
            if isNew {
                for statement in migration.sql { _ = try connection.run(statement) }
                _ = try connection.run("INSERT INTO migrations (name) VALUES ($1)", [.text(migration.name)])
                _ = try connection.run(
                    """
                    INSERT INTO meta (id, min_writer, token_key) VALUES ($1, $2, $3)
                    ON CONFLICT (one) DO UPDATE SET min_writer = greatest(meta.min_writer, excluded.min_writer)
                    """, [.text(UUID().uuidString), .number(Int64(minWriter)), .bytes(randomKey())])
            }
            // It may wait for a standby that is down. A gateway must not do that for long before it listens.
            connection.patience = patience
            _ = try connection.run("COMMIT")
            return isNew
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Makes the rest of a transaction add to the schema of the tables. Another one may have come first in the user's
    /// `search_path` since they were made, such as a new schema of the user's name: a migration would make the tables
    /// anew there. Without effect before the tables are made.
    private static let stay = """
        SELECT set_config('search_path', relnamespace::regnamespace::text, true) FROM pg_class
        WHERE oid = to_regclass('marks')
        """

    /// The key by which all nodes hash device tokens, made once. From the system's generator (getrandom(2)).
    private static func randomKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
