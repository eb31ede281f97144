import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// `store check` and `store migrate` on a PostgreSQL database, and the sentences of all commands for a database that
/// they cannot use.
@Suite(.timeLimit(.minutes(15))) struct StoreCommandTests {
    @Test func checksAndMigratesADatabase() async throws {
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                func run(_ words: String) async throws -> BuiltBinary.Result {
                    try await database.command(words, in: directory)
                }
                let empty = try await run("store check")
                #expect(empty.status == 1 && empty.output.isEmpty)
                #expect(empty.errors.hasPrefix("signalbox: The tables of \(database.place) lack the migrations 1"))
                #expect(empty.errors.hasSuffix(". Run: signalbox store migrate.\n"), "\(empty.errors)")
                let json = try await run("store check --json")
                #expect(json.status == 1 && json.errors.isEmpty)
                #expect(json.output.hasPrefix(#"{"tables":{"fit":false,"pending":["1""#), "\(json.output)")
                for command in ["audit", "deliveries list", "destinations list", "events list"] {
                    let early = try await run(command)
                    #expect(early.status == 2 && early.errors.contains("Run: signalbox store migrate"), "\(command)")
                }

                let migrated = try await run("store migrate --json")
                #expect(migrated.status == 0 && migrated.output.hasPrefix(#"{"applied":["1""#), "\(migrated)")
                #expect(try await run("store migrate").output == "No migration was pending.\n")
                #expect(try await run("store migrate --json").output == #"{"applied":[]}"# + "\n")

                let fitting = try await run("store check")
                #expect(fitting.status == 0 && fitting.errors.isEmpty, "\(fitting.errors)")
                #expect(fitting.output.hasPrefix("The tables of \(database.place) fit this version.\n"))
                #expect(fitting.output.hasSuffix("\nLedger consistent.\n"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)

                try database.run("DROP TABLE events CASCADE")
                let damaged = try await run("store check")
                #expect(damaged.status == 2 && damaged.output.isEmpty, "\(damaged.output)")
                #expect(damaged.errors.hasSuffix("restore a backup of the database.\n"), "\(damaged.errors)")
            }
        }
    }

    @Test func readsTablesOfLaterVersionsUnlessTheyForbidIt() async throws {
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                #expect(try await database.command("store migrate", in: directory).status == 0)
                try database.run("INSERT INTO migrations (name) VALUES ('99')")
                let later = try await database.command("store check", in: directory)
                #expect(later.status == 0, "\(later.errors)")
                #expect(later.output.contains("fit this version; a later version added 99."), "\(later.output)")

                try database.run("UPDATE meta SET min_writer = 99")
                let future = try await database.command("store check", in: directory)
                #expect(future.status == 1)
                #expect(future.errors.contains("newer version of signalbox (migrations 99). Use that version"))
                #expect(
                    try await database.command("store check --json", in: directory).output.contains(#""later":["99"]"#))
                try Data(Gateway.config(to: "http://127.0.0.1:9/").utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                for command in ["store migrate", "audit", "serve --listen 127.0.0.1:0", "replay"] {
                    let refused = try await database.command(command, in: directory)
                    #expect(refused.status == 2, "\(command)")
                    #expect(refused.errors.contains("newer version of signalbox"), "\(command): \(refused.errors)")
                    #expect(refused.errors.contains("Use that version, or a later one."), "\(command)")
                }
            }
        }
    }

    // MARK: Databases that cannot be used

    private static let password = "pa55-Wort-dem-keiner-begegnet"

    /// A server that asks the role `locked` for a password, with a database of the tables.
    private func withLockedRole(_ body: (StoreDatabase, _ directory: String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let rules = directory + "/hba"
            try "host all locked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\n"
                .write(toFile: rules, atomically: true, encoding: .utf8)
            let server = try await PostgresServer.start(.fast, settings: ["hba_file=\(rules)"])
            try await StoreDatabase.with(in: server) { database in
                let work = directory + "/work"
                try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
                #expect(try await database.command("store migrate", in: work).status == 0)
                try database.run(
                    "CREATE ROLE locked LOGIN PASSWORD '\(Self.password)'", "CREATE ROLE guest LOGIN",
                    "CREATE ROLE reader LOGIN", "ALTER ROLE reader SET default_transaction_read_only = on")
                try await body(database, work)
            }
            try await server.stop()
        }
    }

    @Test func refusalsNameTheReasonAndTheRemedy() async throws {
        try await withLockedRole { database, directory in
            try await ReceivingServer.run { receiver in
                let (locked, stranger) = (try database.url(user: "locked"), try database.url(user: "nobody-known"))
                let unknown = database.url + "none"
                let cases: [(url: String, password: String?, reason: String, remedy: String)] = [
                    (locked, "wrong-\(Self.password)", "password authentication failed", "Check the user"),
                    (locked, nil, "no password supplied", "set gateway.store.password, PGPASSWORD or PGPASSFILE."),
                    (stranger, nil, "does not exist", "Create the role"),
                    (unknown, nil, "does not exist", "Create the database"),
                    (try database.url(user: "reader"), nil, "session is read-only", "make the server accept writes"),
                    (try database.url(user: "guest"), nil, "permission denied", "rant the role"),
                    (try database.url(port: 1), nil, "Connection refused", "check that the server runs"),
                    (
                        "postgres://signalbox@127.0.0.1:\(receiver.address.port)/x", nil, "SSL negotiation",
                        "check that the server runs"
                    ),
                ]
                for (url, password, reason, remedy) in cases {
                    for command in ["store check", "store migrate", "audit", "deliveries list", "destinations list"] {
                        if reason == "permission denied", command == "store migrate" { continue }
                        let result = try await binary.run(
                            command.split(separator: " ").map(String.init) + ["--store", url], in: directory,
                            environment: password.map { ["PGPASSWORD": $0] } ?? [:])
                        #expect(result.status == 2 && result.output.isEmpty, "\(command) \(url): \(result.output)")
                        let lines = result.errors.split(separator: "\n")
                        #expect(lines.count == 1 && lines[0].hasPrefix("signalbox: "), "\(url): \(result.errors)")
                        #expect(result.errors.contains(reason), "\(command) \(url): \(result.errors)")
                        #expect(result.errors.contains(remedy), "\(command) \(url): \(result.errors)")
                        #expect(!result.errors.contains(Self.password), "\(url)")
                    }
                }
            }
        }
    }

    @Test func aReloadNeedsThePasswordOfTheDatabase() async throws {
        try await withLockedRole { database, directory in
            try database.run("GRANT ALL ON ALL TABLES IN SCHEMA public TO locked")
            try database.run("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO locked")
            let file = directory + "/secret"
            try Self.password.write(toFile: file, atomically: true, encoding: .utf8)
            let url = try database.url(user: "locked")
            let store = #"{ "url": "\#(url)", "password": "file:\#(file)" }"#
            let config = #"{ "gateway": { "name": "test", "store": \#(store) }, "destinations": {}, "routes": [] }"#
            let gateway = try await Gateway.start(in: directory, config: config)
            try FileManager.default.removeItem(atPath: file)
            gateway.process.signal(SIGHUP)
            var last = ""
            for await line in gateway.process.errors.stream {
                last = line
                if line.contains("Config rejected") || line.contains("Config reloaded") { break }
            }
            #expect(last.contains("Config rejected; the previous one stays active."), "\(last)")
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func hidesPasswordsInEveryOutput() async throws {
        try await withLockedRole { database, directory in
            let url = try database.url(user: "locked")
            try database.run("GRANT ALL ON ALL TABLES IN SCHEMA public TO locked")
            try database.run("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO locked")
            let file = directory + "/secret"
            try Self.password.write(toFile: file, atomically: true, encoding: .utf8)
            let config = """
                { "gateway": { "name": "test", "store": { "url": "\(url)", "password": "file:\(file)" } },
                  "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """
            let gateway = try await Gateway.start(in: directory, config: config, arguments: ["--log-level", "trace"])
            let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)
            #expect(try await gateway.post(payload).status == 202)
            let words = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(gateway.process.identifier)/cmdline"))
            #expect(!String(decoding: words, as: UTF8.self).contains(Self.password))
            // The password of the server changes, then that of the file.
            let later = "x2-" + Self.password
            try database.run(
                "ALTER ROLE locked PASSWORD '\(later)'",
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'locked'")
            // The termination itself may be the first reason.
            try await eventually("a refused password") {
                try await gateway.get("/v1/ledger").text.contains("gateway.store and its password")
            }
            #expect(try await gateway.post(payload).status == 503)
            var answers = try await gateway.get("/readyz").text
            answers += try await gateway.metrics()
            try later.write(toFile: file, atomically: true, encoding: .utf8)
            try await eventually("the new password") { try await gateway.post(payload).status == 202 }
            // Without the file, connections use the last password that was read, not that of the start.
            try FileManager.default.removeItem(atPath: file)
            try database.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'locked'")
            try await eventually("the last password") { try await gateway.post(payload).status == 202 }
            #expect(await gateway.stop() == 0)
            let log = await gateway.process.errors.text()
            #expect(log.contains("Database unreachable"), "\(log)")
            #expect(log.contains("check the user in gateway.store and its password"), "\(log)")
            #expect(log.contains("Database reachable again."), "\(log)")
            let shown = try await binary.run(["config", "show", "--json"], in: directory)
            let attempt = try await binary.run(
                ["audit", "--store", url.replacing("locked@", with: "locked:\(Self.password)@")], in: directory)
            #expect(attempt.status == 64 && attempt.errors.contains("the URL has a password"), "\(attempt.errors)")
            let variable = try await binary.run(
                ["store", "copy", "--to", url.replacing("locked@", with: "locked:\(Self.password)@")], in: directory)
            #expect(variable.status == 64, "\(variable.errors)")
            for text in [log, answers, shown.output, attempt.errors, variable.errors] {
                #expect(!text.contains(Self.password), "\(text)")
            }
        }
    }
}
