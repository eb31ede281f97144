import Testing

@testable import SignalboxPostgres

/// The plans of statements that end leases, made while the queue was empty: the server keeps them while it grows.
@Suite(.timeLimit(.minutes(5))) struct SettlementPlanTests {
    private static let types = """
        bigint, bigint[], bigint[], text[], bigint[], bigint[], text[], bigint[], bigint[], text[], text[], bytea[],
            bytea[]
        """

    /// Otherwise each delivery of the node is compared with each settlement of the group.
    @Test func aSettlementFindsItsDeliveryByNumber() async throws {
        try await NodeBench.withNodes { node, _ in
            let connection = try PostgresConnection(node.target.with(WriterLane.settlements.settings))
            _ = try connection.run("ANALYZE queue")
            _ = try connection.run("PREPARE ended (\(Self.types)) AS \(SettlementStatement.ended)")
            let values = ["1"] + [String](repeating: "NULL", count: 12)
            let rows = try connection.run("EXPLAIN EXECUTE ended (\(values.joined(separator: ", ")))")
            let plan = try rows.map { try $0.text(0) }.joined(separator: "\n")
            #expect(plan.contains("Index Cond: (id = ANY ($2))") && !plan.contains("Nested Loop"), "\(plan)")
        }
    }
}
