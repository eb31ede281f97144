import SignalboxStore
import SignalboxStoreTesting
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

    /// Such a database could not store some texts of events.
    @Test func refusesADatabaseOfAnotherEncoding() async throws {
        let shared = try await PostgresServer.sharedURL()
        let name = "t\(UInt32.random(in: 1 ... .max))"
        let admin = try PostgresAdmin(PostgresTarget(url: shared))
        try admin.run("CREATE DATABASE \(name) ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        let start = try #require(shared.lastIndex(of: "/"))
        let target = PostgresTarget(url: shared[...start] + name)
        let error = #expect(throws: StoreError.self) { try PostgresStore(target) }
        try admin.run("DROP DATABASE \(name) WITH (FORCE)")
        #expect(
            error
                == .refused(
                    reason: "\(target.place) has the encoding LATIN1, which lacks characters of events",
                    remedy: "create the database with ENCODING 'UTF8'"))
    }

    @Test(arguments: ["?sslmode=bogus", "?no_such_option=1", ":99999", "%ZZ"])
    func refusesAURLThatCannotBeUsed(_ end: String) {
        let error = #expect(throws: StoreError.self) { try PostgresStore(PostgresTarget(url: "postgres://a\(end)")) }
        guard case .refused(_, let remedy) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(remedy == "correct the URL in gateway.store")
    }

    @Test func namesTheSchemaThatIsMissing() async throws {
        let target = PostgresTarget(url: try await PostgresServer.sharedURL(), schema: "none_of_this_name")
        let error = #expect(throws: StoreError.self) { try PostgresStore(target) }
        #expect(error?.description.contains("Create the schema and grant it") == true, "\(error as Any)")
    }

    @Test(arguments: [
        "server does not support SSL, but SSL was required", "root certificate file \"/ca.pem\" does not exist",
        "SSL error: certificate verify failed",
    ])
    func namesTheParametersOfTLS(_ reason: String) {
        let remedy = PostgresConnection.remedy(for: reason, needsPassword: false)
        #expect(remedy.hasPrefix("check the parameters of TLS in gateway.store"))
    }

    @Test(arguments: [
        "FATAL:  sorry, too many clients already", "FATAL:  too many connections for role \"signalbox\"",
        "FATAL:  too many connections for database \"signalbox\"",
        "FATAL:  no more connections allowed (max_client_conn)",
    ])
    func namesTheLimitsOfConnections(_ reason: String) {
        let remedy = PostgresConnection.remedy(for: reason, needsPassword: false)
        #expect(remedy.hasPrefix("raise max_connections or the limit of the role, database or pooler"))
    }

    /// Its address is correct.
    @Test(arguments: [
        "FATAL:  the database system is starting up", "FATAL:  the database system is in recovery mode",
        "FATAL:  the database system is not yet accepting connections", "FATAL:  the database system is shutting down",
    ])
    func namesTheServerThatIsNotReady(_ reason: String) {
        let remedy = PostgresConnection.remedy(for: reason, needsPassword: false)
        #expect(remedy == "wait until the server accepts connections; its log says what it is doing")
    }

    /// The role and the database exist, so nothing is to be created.
    @Test(arguments: [
        ("role \"a\" is not permitted to log in", "permit it with ALTER ROLE"),
        ("permission denied for database \"b\"", "grant the role CONNECT on the database"),
        ("database \"b\" is not currently accepting connections", "permit them with ALTER DATABASE"),
        ("role \"a\" does not exist", "create the role"), ("database \"b\" does not exist", "create the database"),
    ])
    func namesTheMissingRightOfARoleOrDatabase(reason: String, remedy: String) {
        #expect(PostgresConnection.remedy(for: "FATAL:  " + reason, needsPassword: false).hasPrefix(remedy))
    }

    @Test func namesTheFullDiskOfASessionThatCannotBegin() {
        let remedy = PostgresConnection.remedy(for: "FATAL:  could not write init file", needsPassword: false)
        #expect(remedy == "free space on the disk of the server")
    }

    /// A pooler whose pool is full accepts sessions, and keeps their first statements waiting.
    @Test func namesTheRemedyOfASessionThatCannotBegin() {
        let target = PostgresTarget(url: "postgres://signalbox@db/queue")
        func words(_ kind: PostgresFailure.Kind, _ message: String) -> String {
            PostgresConnection.beginning(PostgresFailure(kind: kind, message: message), of: target).words
        }
        #expect(words(.timeout, "it did not answer").hasSuffix("if it is behind a pooler, raise the size of the pool"))
        #expect(
            words(.connection, "it was lost")
                == "the database db/queue cannot be reached: it was lost; check that the server runs, and its address "
                + "in gateway.store")
        #expect(words(.statement(sqlState: "42P01"), "no table") == "no table")
    }

    /// The role may need TLS, if the server admits it only with TLS.
    @Test func namesTheRemedyOfAClientThatIsNotAdmitted() {
        func remedy(_ encryption: String) -> String {
            PostgresConnection.remedy(
                for: "FATAL:  pg_hba.conf rejects connection for host \"::1\", user \"a\", \(encryption)",
                needsPassword: false)
        }
        #expect(remedy("SSL encryption") == "admit the role in pg_hba.conf")
        #expect(remedy("no encryption") == "set sslmode=require in gateway.store, or admit the role in pg_hba.conf")
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
