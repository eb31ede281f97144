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
