import SignalboxPostgres
import SignalboxStore
import SignalboxStoreTesting
import Testing

/// The server that the tests start, with its faults.
@Suite(.timeLimit(.minutes(5))) struct PostgresServerTests {
    @Test func keepsCommitsThroughACrash() async throws {
        let server = try await PostgresServer.start()
        let target = PostgresTarget(url: server.url)
        try PostgresAdmin(target).run("CREATE TABLE kept (one bigint)")
        try await server.crash()
        #expect(throws: StoreError.self) { try PostgresAdmin(target) }
        try await server.start()
        // Another target: soon after a failed attempt, the former one makes none.
        try PostgresAdmin(PostgresTarget(url: server.url)).run("INSERT INTO kept VALUES (1)")
    }

    @Test func aPromotedStandbyHasTheCommitsOfItsPrimary() async throws {
        let primary = try await PostgresServer.start(settings: ["synchronous_standby_names=standby"])
        let standby = try await primary.startStandby()
        try PostgresAdmin(PostgresTarget(url: primary.url)).run("CREATE TABLE kept (one bigint)")
        #expect(throws: StoreError.self) { try PostgresAdmin(PostgresTarget(url: standby.url)) }
        try await primary.crash()
        try await standby.promote()
        try PostgresAdmin(PostgresTarget(url: standby.url)).run("INSERT INTO kept VALUES (1)")
    }

    @Test(.enabled(if: PostgresServer.canLimitDisks, "only root can mount a file system"))
    func refusesWritesOnAFullDisk() async throws {
        let server = try await PostgresServer.start(.small(mebibytes: 160))
        let target = PostgresTarget(url: server.url)
        try PostgresAdmin(target).run("CREATE TABLE rows (one text)")
        try await server.fill()
        #expect(throws: StoreError.self) {
            try PostgresAdmin(target).run("INSERT INTO rows SELECT repeat('x', 2000) FROM generate_series(1, 20000)")
        }
        try await server.free()
        try await server.start()
        try PostgresAdmin(target).run("INSERT INTO rows VALUES ('y')")
    }
}
