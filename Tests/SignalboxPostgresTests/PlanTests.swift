import SignalboxStoreTesting
import Testing

@testable import SignalboxPostgres

/// Plans of prepared statements, which the server keeps until a table is vacuumed or analysed.
@Suite(.timeLimit(.minutes(5))) struct PlanTests {
    private static let query = "SELECT count(*) FROM grown WHERE id = ANY ($1)"

    /// The nodes of the plan of the prepared statement.
    private static func plan(on connection: PostgresConnection) throws -> String {
        let name = try connection.run("SELECT name FROM pg_prepared_statements WHERE statement = $1", [.text(query)])
        let rows = try connection.run("EXPLAIN EXECUTE \(try #require(try name.first?.text(0))) (ARRAY[1::bigint])")
        return try rows.map { try $0.text(0) }.joined(separator: "\n")
    }

    @Test(arguments: [true, false]) func aGrownTableIsPlannedAgain(isStale: Bool) async throws {
        let target = PostgresTarget(url: try await PostgresServer.sharedURL())
        let connection = try PostgresConnection(target.with(["plan_cache_mode=force_generic_plan"]))
        _ = try connection.run("CREATE TEMPORARY TABLE grown (id bigint PRIMARY KEY)")
        // As after a vacuum of the empty table.
        _ = try connection.run("ANALYZE grown")
        _ = try connection.run(Self.query, [.numbers([1])])
        #expect(try Self.plan(on: connection).contains("Seq Scan"))
        _ = try connection.run("INSERT INTO grown SELECT generate_series(1, 100000)")
        if isStale { connection.planLife = .zero }
        _ = try connection.run(Self.query, [.numbers([1])])
        let plan = try Self.plan(on: connection)
        #expect(plan.contains("Seq Scan") != isStale, "\(plan)")
    }

    /// The server refuses the BEGIN if a statement before it in the same transaction has read.
    @Test func aTransactionWithASnapshotBeginsWithNewPlans() async throws {
        let connection = try PostgresConnection(PostgresTarget(url: try await PostgresServer.sharedURL()))
        connection.planLife = .zero
        for _ in 0..<2 {
            _ = try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            #expect(try connection.run("SELECT 1").count == 1)
            _ = try connection.run("COMMIT")
        }
    }

    /// An operator made the former primary read-only, and its sessions go on.
    @Test func aRefusedWriteRenewsEveryConnection() async throws {
        let target = PostgresTarget(url: try await PostgresServer.sharedURL())
        let (reader, writer) = (try PostgresConnection(target), try PostgresConnection(target))
        _ = try writer.run("SET default_transaction_read_only = on")
        #expect(throws: PostgresFailure.self) { try writer.run("CREATE TABLE refused (id bigint)") }
        #expect(!writer.isOpen && !reader.isOpen)
        let next = try PostgresConnection(target)
        #expect(next.isOpen)
    }
}
