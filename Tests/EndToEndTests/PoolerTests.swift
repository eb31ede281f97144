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
        // Eleven connections for each gateway, one while it registers, and those of the play's commands.
        try await Self.play(.session, pool: 40, connections: 12)
    }

    @Test(.enabled(if: PgBouncer.preparesInTransactions, "needs PgBouncer 1.21 or later"))
    func deliversEachEventOnceThroughTransactions() async throws {
        try await Self.play(.transaction, pool: 10, connections: 1, settings: ["max_prepared_statements = 500"])
    }

    /// Without them, another queue's tables would be used, a crash would lose accepted events, or order would not hold.
    @Test func refusesSessionsWithoutTheSettingsOfTheGateway() async throws {
        let database = try await PostgresServer.start()
        let admin = try PostgresConnection(PostgresTarget(url: database.url))
        _ = try admin.run("CREATE SCHEMA other")
        // A session that outlives its client would keep the role's former settings.
        let pooler = try await PgBouncer.start(
            to: database, .session, pool: 10,
            settings: ["ignore_startup_parameters = options", "server_lifetime = 0"])
        let url = PostgresServer.url(port: pooler.port)
        func reason(schema: String?) -> String {
            do {
                _ = try PostgresStore(PostgresTarget(url: url, schema: schema))
                return ""
            } catch { return "\(error)" }
        }
        #expect(reason(schema: "other").contains("ignores the setting search_path = 'other'"))
        _ = try admin.run("ALTER ROLE signalbox SET search_path = 'other'")
        #expect(reason(schema: "other") == "")
        for setting in ["synchronous_commit = 'off'", "default_transaction_isolation = 'serializable'"] {
            _ = try admin.run("ALTER ROLE signalbox SET \(setting)")
            let name = String(setting.prefix { $0 != " " })
            #expect(reason(schema: nil).contains("ignores the setting \(name)"), "\(setting)")
            _ = try admin.run("ALTER ROLE signalbox RESET \(name)")
        }
    }

    /// `connections`: the fewest from the pool to the server.
    private static func play(
        _ mode: PgBouncer.Mode, pool: Int, connections: Int, settings: [String] = []
    ) async throws {
        let database = try await PostgresServer.start()
        let admin = try PostgresConnection(PostgresTarget(url: database.url))
        let statements = try documentedStatements()
        try #require(statements.count > 3)
        for sql in statements { _ = try admin.run(sql) }
        let pooler = try await PgBouncer.start(
            to: database, mode, pool: pool, settings: settings + ["ignore_startup_parameters = options"])
        try await NodePlay.run(NodeStage(database: database, ports: [pooler.port])) { play, _ in
            try await play.accept(400)
            let used = try play.number("SELECT count(*) FROM pg_stat_activity WHERE usename = 'signalbox'")
            #expect(used >= connections, "gateways use the pool, seed \(play.seed)")
            #expect(play.record.refused == 0 && play.record.unanswered == 0, "seed \(play.seed)")
            #expect(play.record.repeats == 0, "seed \(play.seed)")
        }
    }

    /// The settings of the role in the guide.
    private static func documentedStatements() throws -> [String] {
        let text = try String(contentsOf: URL(fileURLWithPath: guide).standardized, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("ALTER ROLE signalbox SET ") }.map(String.init)
    }
}
