import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Gateways whose connections pass PgBouncer, as `docs/guides/several-nodes.md` describes it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PoolerTests {
    private static let guide = #filePath + "/../../../docs/guides/several-nodes.md"

    @Test func deliversEachEventOnceThroughSessions() async throws {
        let database = try await PostgresServer.start()
        let admin = try PostgresConnection(PostgresTarget(url: database.url))
        let statements = try Self.documentedStatements()
        try #require(statements.count > 3)
        for sql in statements { _ = try admin.run(sql) }
        // Eleven connections for each gateway, one while it registers, and those of the play's commands.
        let pooler = try await PgBouncer.start(
            to: database, .session, pool: 40, settings: ["ignore_startup_parameters = options"])
        try await NodePlay.run(NodeStage(database: database, ports: [pooler.port])) { play, _ in
            try await play.accept(400)
            let connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'signalbox'"
            #expect(try play.number(connections) > 12, "gateways use the pool, seed \(play.seed)")
            #expect(play.record.refused == 0 && play.record.unanswered == 0, "seed \(play.seed)")
            try await play.wait("the end of the backlog") { play.record.backlog(destinations: 2) < 20 }
            #expect(play.record.repeats == 0, "seed \(play.seed)")
        }
    }

    /// The settings of the role in the guide.
    private static func documentedStatements() throws -> [String] {
        let text = try String(contentsOf: URL(fileURLWithPath: guide).standardized, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("ALTER ROLE signalbox SET ") }.map(String.init)
    }
}
