import Dispatch
import Foundation
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Writers whose connections are cut while they commit.
@Suite(.timeLimit(.minutes(5))) struct LostCommitTests {
    @Test(arguments: CuttingProxy.Cut.allCases) func eachWriteIsMadeOnce(_ cut: CuttingProxy.Cut) async throws {
        try await Self.withWriter { writer, proxy, rows in
            for number in 1...5 {
                proxy.cutNext(cut)
                try await writer.write { _ = try $0.run("INSERT INTO rows VALUES ($1)", [.number(Int64(number))]) }
                #expect(proxy.cuts == number, "the commit passed the proxy")
            }
            #expect(try rows() == [1, 2, 3, 4, 5])
        }
    }

    @Test func manyWritesWithRandomCutsAreMadeOnceEach() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        try await Self.withWriter { writer, proxy, rows in
            proxy.cutOne(in: 3, seed: seed)
            for number in 1...120 {
                // After several cuts in a row, the writer gives up without a write.
                try await Self.write(number, with: writer)
            }
            #expect(proxy.cuts > 10, "seed \(seed)")
            #expect(try rows() == Array(1...120), "seed \(seed)")
        }
    }

    /// A server that refuses connections makes the outcome undecided, and nothing is written twice afterwards.
    @Test func aWriteAfterAnOutageIsMadeOnce() async throws {
        try await Self.withWriter { writer, proxy, rows in
            try await writer.write { _ = try $0.run("INSERT INTO rows VALUES (1)") }
            proxy.set(.refuse)
            await #expect(throws: StoreError.self) {
                try await writer.write { _ = try $0.run("INSERT INTO rows VALUES (2)") }
            }
            proxy.set(.forward)
            // Attempts to connect soon after a failed one fail at once.
            try await Self.write(3, with: writer)
            #expect(try rows() == [1, 3])
        }
    }

    /// The server confirms a commit whose wait for a standby was canceled, although only the primary has it.
    @Test func aCommitThatNoLongerWaitsForItsStandbyIsNotConfirmed() async throws {
        let server = try await PostgresServer.start(
            settings: ["synchronous_standby_names=standby", "client_min_messages=error"])
        let target = PostgresTarget(url: server.url)
        let (writer, operation) = (try PostgresConnection(target), try PostgresConnection(target))
        let write = Task {
            try await DispatchQueue(label: "writer").run { () throws(PostgresFailure) in
                try writer.run("CREATE TABLE rows (id bigint)").count
            }
        }
        let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        while try operation.run(cancel).isEmpty { await Task.yield() }
        let error = await #expect(throws: PostgresFailure.self) { try await write.value }
        #expect(error?.kind == .connection && !writer.isOpen)
    }

    /// A lane without further writes finds out by itself, so that leases of the commit do not wait for one.
    @Test func anUndecidedCommitIsLookedUpWithoutAnotherWrite() async throws {
        try await Self.withWriter { writer, proxy, rows in
            try await writer.write { _ = try $0.run("INSERT INTO rows VALUES (1)") }
            // The commit is made, and no connection tells so for longer than the writer tries.
            proxy.cutNext(.beforeAnswer, then: .refuse)
            await #expect(throws: StoreError.undecided(after: StoreLimits.patience)) {
                try await writer.write { _ = try $0.run("INSERT INTO rows VALUES (2)") }
            }
            proxy.set(.forward)
            // Attempts to connect soon after a failed one fail at once.
            while !writer.membership.takeSweepRequest() {
                writer.resolveLater()
                await Task.yield()
            }
            #expect(try rows() == [1, 2])
        }
    }

    /// Repeats a write until it succeeds. Only failures without a write are repeated.
    private static func write(_ number: Int, with writer: PostgresWriter) async throws {
        while true {
            do throws(StoreError) {
                return try await writer.write {
                    _ = try $0.run("INSERT INTO rows VALUES ($1)", [.number(Int64(number))])
                }
            } catch {
                switch error {
                case .unavailable, .unreachable: continue
                default: throw error
                }
            }
        }
    }

    /// Runs `body` with a writer behind a proxy, and a function that reads the rows that were written.
    private static func withWriter(
        _ body: (PostgresWriter, CuttingProxy, () throws -> [Int64]) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            _ = try location.open(ManualDate())
            let direct = try PostgresConnection(location.target)
            _ = try direct.run("CREATE TABLE rows (number bigint)")
            var url = try #require(URLComponents(string: location.target.url))
            let proxy = try CuttingProxy(to: try #require(url.port))
            url.port = proxy.port
            let target = PostgresTarget(url: try #require(url.string), schema: location.target.schema)
            let membership = NodeMembership(location.target)
            let writer = PostgresWriter(.others, of: target, membership, now: { Date() })
            try await body(writer, proxy) {
                try direct.run("SELECT number FROM rows ORDER BY number").map { try $0.number(0) }
            }
        }
    }
}
