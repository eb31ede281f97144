import SignalboxStoreTesting
import Testing

@testable import SignalboxPostgres

/// Connections that make the server forget its plans, and that are renewed.
@Suite(.timeLimit(.minutes(5))) struct PlanTests {
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

    /// The server keeps the plan of a table of one row until something makes it forget it. Many changes of other tables
    /// would do so, too, so it is a server of its own.
    @Test func aStatementGetsANewPlanAfterTheLifeOfTheFormerOne() async throws {
        let server = try await PostgresServer.start(.fast)
        let target = PostgresTarget(url: server.url)
        let connection = try PostgresConnection(target.with(["plan_cache_mode=force_generic_plan"]))
        connection.planLife = .seconds(3600)
        let add = "INSERT INTO grown SELECT generate_series($1, $2)"
        let find = "SELECT id FROM grown WHERE id = $1"
        _ = try connection.run("CREATE TEMPORARY TABLE grown (id bigint PRIMARY KEY)")
        _ = try connection.run(add, [.number(1), .number(1)])
        _ = try connection.run("ANALYZE grown")
        _ = try connection.run(find, [.number(1)])
        _ = try connection.run(add, [.number(2), .number(20_000)])
        let name = try connection.run("SELECT name FROM pg_prepared_statements WHERE statement = $1", [.text(find)])
        func plan() throws -> String {
            try connection.run("EXPLAIN EXECUTE \(name.first?.text(0) ?? "") (1)").map { try $0.text(0) }
                .joined(separator: "\n")
        }
        #expect(try plan().contains("Seq Scan"))
        connection.planLife = .zero
        #expect(try !plan().contains("Seq Scan"))
        try await server.stop()
    }

    /// Until its end, the server accepts no other statement.
    @Test func aFailedTransactionIsRolledBack() async throws {
        let connection = try PostgresConnection(PostgresTarget(url: try await PostgresServer.sharedURL()))
        _ = try connection.run("BEGIN")
        connection.planLife = .zero
        #expect(throws: PostgresFailure.self) { try connection.run("SELECT 1 / 0") }
        _ = try connection.run("ROLLBACK")
        #expect(try connection.run("SELECT 1").count == 1)
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
