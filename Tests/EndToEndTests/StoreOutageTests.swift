import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// A gateway whose database is gone, slow, read-only or full: senders get 503 with `Retry-After`, operators a sentence,
/// and the gateway recovers without a restart.
@Suite(.serialized, .timeLimit(.minutes(15))) struct StoreOutageTests {
    private static let payload = #"{"aps":{"alert":"x"}}"#

    /// Posts a payload; checks that a refusal may be repeated.
    private func post(to gateway: Gateway) async throws -> (status: Int, text: String) {
        let reply = try await Reply(
            gateway.url + "/v1/notifications", "--header", "content-type: application/json", "--data", Self.payload)
        let text = String(decoding: reply.body, as: UTF8.self)
        if reply.status != 202 { #expect(reply.status == 503 && reply.headers["retry-after"] == "5", "\(text)") }
        return (reply.status, text)
    }

    /// Checks the page during an outage: it has the metrics of the process, and none that the database would answer.
    private func checkMetrics(of gateway: Gateway) async throws {
        let page = try await gateway.metrics()
        for sample in [
            "signalbox_queue_readable 0\n",
            #"signalbox_http_request_duration_seconds_count{route="/v1/notifications",status="503"}"#,
        ] { #expect(page.contains("\n" + sample), "\(page)") }
        for sample in [
            "signalbox_deliveries_waiting{", "signalbox_destination_up{", "signalbox_media_files ",
            "signalbox_queue_file_bytes ", "signalbox_fleet_nodes ",
        ] { #expect(!page.contains("\n" + sample), "\(page)") }
    }

    /// Runs a gateway on a database behind a proxy. `outage` ends with a database in order. Afterwards every event that
    /// was accepted has arrived.
    private func play(
        on server: PostgresServer? = nil, mode: CuttingProxy.Mode = .forward, log words: [String],
        before: @escaping @Sendable () async throws -> Void = {},
        _ outage: @escaping @Sendable (Gateway, CuttingProxy, StoreDatabase) async throws -> Void
    ) async throws {
        try await StoreDatabase.with(in: server) { database in
            try await withTemporaryDirectory { directory in
                try await ReceivingServer.run { receiver in
                    let port = try #require(URLComponents(string: database.url)?.port)
                    let proxy = try CuttingProxy(to: port)
                    proxy.set(mode)
                    try await before()
                    let gateway = try await Gateway.start(
                        in: directory, config: Gateway.config(to: receiver.url),
                        arguments: ["--store", try database.url(port: proxy.port)])
                    try await outage(gateway, proxy, database)
                    try await eventually("an accepted post") { try await post(to: gateway).status == 202 }
                    try await eventually("readiness") { try await gateway.get("/readyz").status == 200 }
                    #expect(try await gateway.metrics().contains("signalbox_queue_readable 1\n"))
                    let accepted = try database.number("SELECT count(*) FROM events")
                    #expect(await receiver.next(accepted).count == accepted)
                    #expect(await gateway.stop() == 0)
                    let log = await gateway.process.errors.text()
                    for words in words { #expect(log.contains(words), "\(words): \(log)") }
                    #expect(try await database.command("audit", in: directory).status == 0)
                }
            }
        }
    }

    @Test func waitsForADatabaseThatIsGoneAtItsStart() async throws {
        try await play(mode: .refuse, log: ["Database reachable again."]) { gateway, proxy, _ in
            let refused = try await post(to: gateway)
            #expect(refused.status == 503 && refused.text.contains("The database of the queue cannot be reached."))
            let ready = try await gateway.get("/readyz")
            #expect(ready.status == 503 && ready.text.contains("cannot be reached"), "\(ready.text)")
            let ledger = try await gateway.get("/v1/ledger")
            #expect(ledger.status == 503 && ledger.text.contains("check that the server runs"), "\(ledger.text)")
            try await checkMetrics(of: gateway)
            proxy.set(.forward)
        }
    }

    /// Accepts connections, and answers nothing.
    @Test func waitsForADatabaseThatHangsAtItsStart() async throws {
        try await play(mode: .hold, log: ["Database reachable again."]) { gateway, proxy, _ in
            let refused = try await post(to: gateway)
            #expect(refused.status == 503 && refused.text.contains("The database of the queue cannot be reached."))
            #expect(try await gateway.get("/readyz").status == 503)
            try await checkMetrics(of: gateway)
            proxy.set(.forward)
        }
    }

    @Test(.enabled(if: PostgresServer.canLimitDisks)) func waitsForADatabaseThatIsFullAtItsStart() async throws {
        let server = try await PostgresServer.start(.small(mebibytes: 200))
        try await play(on: server, log: [], before: { try await server.fill() }) { gateway, _, _ in
            #expect(try await post(to: gateway).status == 503)
            #expect(try await gateway.get("/readyz").status == 503)
            try await server.free()
            // The server stops itself when it cannot write its log.
            try await server.start()
        }
        try await server.stop()
    }

    @Test func recoversFromADatabaseThatWasGone() async throws {
        let words = ["Database unreachable; answering 503.", "check that the server runs", "Database reachable again."]
        try await play(log: words) { gateway, proxy, _ in
            #expect(try await post(to: gateway).status == 202)
            proxy.set(.refuse)
            try await eventually("a refused post") { try await post(to: gateway).status == 503 }
            try await eventually("that it is not ready") { try await gateway.get("/readyz").status == 503 }
            // The first reason is the lost connection, the next one that there is none.
            try await eventually("the remedy") {
                try await gateway.get("/v1/ledger").text.contains("check that the server runs")
            }
            try await checkMetrics(of: gateway)
            #expect(try await gateway.metrics().contains("\nsignalbox_node_heartbeat_age_seconds "))
            proxy.set(.forward)
        }
    }

    @Test func acceptsEventsOnASlowDatabase() async throws {
        try await play(log: []) { gateway, proxy, _ in
            proxy.delay(by: .seconds(1))
            // Two round trips of a second each, and as many for statements of other connections.
            let (slow, ready) = (try await post(to: gateway).status, try await gateway.get("/readyz").status)
            #expect(slow == 202 && ready == 200)
            proxy.delay(by: .zero)
        }
    }

    @Test func saysThatTheDatabaseIsReadOnly() async throws {
        let words = ["session is read-only; make the server accept writes", "Database reachable again."]
        try await play(log: words) { gateway, _, database in
            let name = database.url.split(separator: "/").last ?? ""
            let end =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)' "
                + "AND pid <> pg_backend_pid()"
            try database.run("ALTER DATABASE \(name) SET default_transaction_read_only = on", end)
            try await eventually("a refused post") { try await post(to: gateway).status == 503 }
            // The first reason is the lost connection.
            try await eventually("the remedy") {
                try await gateway.get("/v1/ledger").text.contains("make the server accept writes")
            }
            // From another database, because connections to this one are not accepted.
            try await StoreDatabase.with { other in
                try other.run("ALTER DATABASE \(name) RESET default_transaction_read_only")
            }
        }
    }

    @Test(.enabled(if: PostgresServer.canLimitDisks)) func saysThatTheDiskIsFull() async throws {
        let server = try await PostgresServer.start(.small(mebibytes: 200))
        try await play(on: server, log: []) { gateway, _, _ in
            #expect(try await post(to: gateway).status == 202)
            try await server.fill()
            var answer = ""
            try await eventually("a refused post") {
                let (status, text) = try await post(to: gateway)
                answer = text
                return status == 503
            }
            #expect(
                answer.contains("disk of the database is full") || answer.contains("cannot be reached"), "\(answer)")
            try await eventually("that it is not ready") {
                // A server that has restarted may find room for a few more.
                _ = try await post(to: gateway)
                return try await gateway.get("/readyz").status == 503
            }
            try await server.free()
            // The server stops itself when it cannot write its log.
            try await server.start()
        }
        try await server.stop()
    }
}
