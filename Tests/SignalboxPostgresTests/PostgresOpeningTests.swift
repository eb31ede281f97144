import SignalboxStore
import Testing

@testable import SignalboxPostgres

@Suite struct PostgresOpeningTests {
    @Test func allNodesHashTokensWithTheSameKey() async throws {
        try await PostgresLocation.withLocation { location in
            let first = try PostgresStore(location.target)
            let second = try PostgresStore(location.target)
            #expect(first.tokenKey == second.tokenKey)
            #expect(Set(first.tokenKey).count > 8)
        }
    }

    @Test func commandsRefuseMissingTables() async throws {
        try await PostgresLocation.withLocation { location in
            let expected = StoreError.otherTables(place: location.target.place, isNewer: false)
            #expect(throws: expected) { try PostgresStore(location.target, tables: .current) }
        }
    }

    @Test func refusesTablesThatThisVersionMayNotWrite() async throws {
        try await PostgresLocation.withLocation { location in
            _ = try PostgresStore(location.target)
            try PostgresAdmin(location.target).run("UPDATE meta SET min_writer = 1000")
            let expected = StoreError.otherTables(place: location.target.place, isNewer: true)
            #expect(throws: expected) { try PostgresStore(location.target) }
        }
    }

    @Test func aLaterMigrationDoesNotPreventWrites() async throws {
        try await PostgresLocation.withLocation { location in
            _ = try PostgresStore(location.target)
            try PostgresAdmin(location.target).run("INSERT INTO migrations (name) VALUES ('from the future')")
            _ = try PostgresStore(location.target, tables: .current)
        }
    }

    @Test func namesAnUnknownDatabaseAsAMistakeOfTheOperator() async throws {
        try await PostgresLocation.withLocation { location in
            let target = PostgresTarget(url: location.target.url + "_that_does_not_exist")
            let error = #expect(throws: StoreError.self) { try PostgresStore(target) }
            guard case .refused(let reason, let remedy) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("does not exist"))
            #expect(remedy.contains("create the database"))
        }
    }

    @Test func callsAServerThatDoesNotListenUnreachable() {
        let target = PostgresTarget(url: "postgres://signalbox@127.0.0.1:1/none") { "a secret" }
        let error = #expect(throws: StoreError.self) { try PostgresStore(target) }
        guard case .unreachable(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("the database 127.0.0.1:1/none cannot be reached: "))
        #expect(!reason.contains("a secret"))
    }

    @Test func aStandInIsUnreachable() async {
        let store = PostgresStore(insteadOf: PostgresTarget(url: "postgres://localhost/none"), reason: "it is not open")
        await #expect(throws: StoreError.unreachable(reason: "it is not open")) {
            try await store.readers.read { try $0.run("SELECT 1").count }
        }
    }
}
