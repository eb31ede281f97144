import Dispatch
import SignalboxStore
import SignalboxStoreTesting
import Testing

@testable import SignalboxPostgres

/// Migrations of a database in use.
@Suite(.timeLimit(.minutes(5))) struct MigrationTests {
    /// `search_path` begins with the user's own schema by default, and someone made one of this name.
    @Test func aMigrationStaysInTheSchemaOfTheTables() async throws {
        try await Self.withFormerTables { location, connection in
            let schema = try #require(location.target.schema)
            _ = try connection.run("CREATE SCHEMA \(schema)_first")
            let target = PostgresTarget(url: location.target.url).with(["search_path=\(schema)_first,\(schema)"])
            #expect(try PostgresTables.migrate(target) == ["3"])
            let store = try PostgresStore(target, tables: .current)
            #expect(try await store.space().used > 0)
            _ = try connection.run("DROP SCHEMA \(schema)_first")
        }
    }

    /// A gateway migrates before it listens.
    @Test func theCommitOfAMigrationWaitsForAStandbyOnlyWithinTheUsualLimit() async throws {
        let server = try await PostgresServer.start(settings: ["synchronous_standby_names=standby"])
        let connection = try PostgresConnection(PostgresTarget(url: server.url))
        connection.patience = .milliseconds(200)
        let error = #expect(throws: PostgresFailure.self) { try PostgresSchema.migrate(connection) }
        #expect(error?.kind == .timeout)
    }

    /// A backup reads for long. The statements of gateways would wait behind a migration that waits for its end.
    @Test func aMigrationThatWaitsForATableDoesNotBlockGateways() async throws {
        try await Self.withFormerTables { location, connection in
            let backup = try PostgresConnection(location.target.with(["idle_in_transaction_session_timeout=0"]))
            _ = try backup.run("BEGIN")
            _ = try backup.run("SELECT FROM destinations")
            let target = location.target
            let migration = Task {
                try await withCheckedThrowingContinuation { (done: CheckedContinuation<[String], any Error>) in
                    DispatchQueue.global().async { done.resume(with: Result { try PostgresTables.migrate(target) }) }
                }
            }
            let waiting = """
                SELECT FROM pg_locks WHERE relation = 'destinations'::regclass AND mode = 'AccessExclusiveLock'
                """
            while try connection.run(waiting).isEmpty { await Task.yield() }
            // The connection of a gateway waits for a lock for two seconds.
            #expect(throws: Never.self) { try connection.run("SELECT FROM destinations") }
            _ = try backup.run("COMMIT")
            #expect(try await migration.value == ["3"])
        }
    }

    /// Tables as the version before the last migration left them.
    private static func withFormerTables(
        _ body: (PostgresLocation, PostgresConnection) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            _ = try PostgresStore(location.target)
            let connection = try PostgresConnection(location.target)
            for undo in [
                "ALTER TABLE destinations DROP requeues", "DROP INDEX queue_leased",
                "CREATE INDEX queue_busy ON queue (destination)", "DELETE FROM migrations WHERE name = '3'",
            ] { _ = try connection.run(undo) }
            try await body(location, connection)
        }
    }
}
