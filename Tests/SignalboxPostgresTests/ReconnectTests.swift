import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxPostgres

/// Connections that lead to another place than the previous connection.
@Suite(.timeLimit(.minutes(5))) struct ReconnectTests {
    /// The first reason may be that connections were ended; the one that needs an operator comes later.
    @Test func reportsEachNewReason() {
        let reach = PostgresReach()
        let reports = Mutex<[String?]>([])
        reach.onChange { report in reports.withLock { $0.append(report) } }
        for message in ["lost", "lost", "refused", "refused"] {
            reach.failed(PostgresFailure(kind: .connection, message: message))
        }
        for _ in 0..<2 { reach.succeeded() }
        reach.failed(PostgresFailure(kind: .connection, message: "refused"))
        #expect(reports.withLock(\.self) == ["lost", "refused", nil, "refused"])
    }

    @Test func aStoreRefusesAnotherDatabaseAtItsAddress() async throws {
        try await Self.withStore { store, proxy, direct in
            try await store.append([NodeBench.event(1)])
            let id = try #require(try direct.run("SELECT id FROM meta").first?.text(0))
            _ = try direct.run("UPDATE meta SET id = 'another'")
            proxy.cutAll()
            let counts = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM nodes)"
            let error = await #expect(throws: StoreError.self) { try await store.append([NodeBench.event(2)]) }
            #expect(error?.description.contains("is not the database that the gateway opened") == true)
            await #expect(throws: StoreError.self) {
                try await store.takeAttempts(of: NodeBench.crm, perSecond: 1)
            }
            store.membership.replace(try #require(store.membership.incarnation?.node))
            await #expect(throws: StoreError.self) { try await store.append([NodeBench.event(3)]) }
            let row = try #require(try direct.run(counts).first)
            #expect(try [row.number(0), row.number(1)] == [1, 1])
            _ = try direct.run("UPDATE meta SET id = $1", [.text(id)])
            while (try? await store.append([NodeBench.event(4)])) == nil { await Task.yield() }
        }
    }

    /// After a failover that lost the registration of a node, another process may have its number.
    @Test func aNodeWhoseNumberIsOfAnotherOneBeginsAnew() async throws {
        try await Self.withStore { store, proxy, direct in
            try await store.append([NodeBench.event(1)])
            let node = try #require(store.membership.incarnation?.node)
            _ = try direct.run("UPDATE nodes SET key = 'another' WHERE id = $1", [.number(node)])
            let marks = "SELECT lane, number FROM marks WHERE node = $1 ORDER BY lane"
            let before = try direct.run(marks, [.number(node)]).map { try $0.number(1) }
            proxy.cutAll()
            try await store.append([NodeBench.event(2)])
            #expect(store.membership.incarnation?.node != node)
            #expect(try direct.run(marks, [.number(node)]).map { try $0.number(1) } == before)
            #expect(try direct.run("SELECT FROM events").count == 2)
        }
    }

    /// A load balancer accepts connections even when the server behind it is gone.
    @Test func usesTheNextHostWhenOneAcceptsAndClosesConnections() async throws {
        try await PostgresLocation.withLocation { location in
            let url = try #require(URLComponents(string: location.target.url))
            let port = try #require(url.port)
            let proxy = try CuttingProxy(to: port)
            proxy.set(.refuse)
            let user = try #require(url.user)
            func target(_ hosts: String) -> PostgresTarget {
                PostgresTarget(url: "postgres://\(user)@\(hosts)\(url.path)", schema: location.target.schema)
            }
            let store = try PostgresStore(target("127.0.0.1:\(proxy.port),127.0.0.1:\(port)"))
            try await store.append([NodeBench.event(1)])
            let error = #expect(throws: StoreError.self) {
                try PostgresStore(target("127.0.0.1:\(proxy.port),127.0.0.1:1"))
            }
            let reason = try #require(error?.description)
            #expect(reason.contains("server closed the connection"))
            #expect(reason.contains("Connection refused"))
            // The reason of the host that answers decides whether another attempt is useless.
            let unknown = PostgresTarget(
                url: "postgres://\(user)@127.0.0.1:\(proxy.port),127.0.0.1:\(port)/no_such_database")
            let refusal = #expect(throws: StoreError.self) { try PostgresStore(unknown) }
            guard case .refused? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
        }
    }

    /// After a failover, the former primary may still run, with sessions of the gateway.
    @Test func aConnectionToANewPrimaryEndsThoseToTheFormerOne() async throws {
        let primary = try await PostgresServer.start(settings: ["synchronous_standby_names=standby"])
        let standby = try await primary.startStandby()
        let hosts = [standby, primary].map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let target = PostgresTarget(url: "postgres://signalbox@\(hosts)/postgres")
        let store = try PostgresStore(target)
        try await store.append([NodeBench.event(1)])
        let former = try PostgresConnection(target)
        try await standby.promote()
        #expect(former.isOpen)
        let next = try PostgresConnection(target)
        #expect(!former.isOpen && next.isOpen)
        // The writers have sessions at the former primary, which does not know the next incarnation.
        store.membership.replace(try #require(store.membership.incarnation?.node))
        try await store.append([NodeBench.event(2)])
        #expect(try next.run("SELECT FROM events").count == 2)
    }

    @Test func anotherServerBeginsAGeneration() {
        let reach = PostgresReach()
        let servers: [Int64?] = [1, 1, nil, 2, 2, 1]
        #expect(servers.map { reach.adopt(server: $0) } == [0, 0, 0, 1, 1, 2])
    }

    /// Lists that do not match are libpq's to refuse, and one port is for all hosts.
    @Test(arguments: [
        ("postgres://a,b/db", ["host=a port=5432", "host=b port=5432"]),
        ("postgres://a:1,b:2/db", ["host=a port=1", "host=b port=2"]),
        ("postgres://a/db", [""]), ("host=a,b port=5 dbname=db", ["host=a", "host=b"]),
        ("host=a,b port=5,6,7", [""]), ("hostaddr=::1,::2", ["hostaddr=::1", "hostaddr=::2"]),
        ("postgres://a,/db", [""]),
        ("not a connection string =", [""]),
    ])
    func attemptsEachHost(url: String, expected: [String]) {
        let target = PostgresTarget(url: url)
        let common = target.parameters.count
        let attempts = target.attempts.map { $0.dropFirst(common).map { "\($0)=\($1)" }.joined(separator: " ") }
        #expect(attempts == expected)
    }

    /// The server names the reason with which it ends a session. The next call receives it as its answer.
    @Test func aReadWhoseSessionWasEndedIsRepeated() async throws {
        let target = PostgresTarget(url: try await PostgresServer.sharedURL())
        let readers = PostgresReaders(target, count: 1)
        let session = "SELECT pg_backend_pid()"
        let former = try await readers.read { try $0.run(session).first?.number(0) }
        let direct = try PostgresConnection(target)
        _ = try direct.run("SELECT pg_terminate_backend($1::integer)", [.number(former)])
        while try !direct.run("SELECT FROM pg_stat_activity WHERE pid = $1", [.number(former)]).isEmpty {}
        let next = try await readers.read { try $0.run(session).first?.number(0) }
        #expect(next != nil && next != former)
    }

    /// Runs `body` with a store behind a proxy, without a heartbeat, and a connection of its own.
    private static func withStore(
        _ body: (PostgresStore, CuttingProxy, PostgresConnection) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            var url = try #require(URLComponents(string: location.target.url))
            let proxy = try CuttingProxy(to: try #require(url.port))
            url.port = proxy.port
            let target = PostgresTarget(url: try #require(url.string), schema: location.target.schema)
            try await body(PostgresStore(target), proxy, PostgresConnection(location.target))
        }
    }
}
