import SignalboxInApp
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Looks at changes of in-app messages next to transactions that last long.
@Suite(.timeLimit(.minutes(5))) struct InAppChangesTests {
    /// Two nodes; the reports are those of the second one.
    private static func withNodes(
        _ body: (PostgresStore, PostgresStore, MessageReports) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let nodes = try (0..<2).map { _ in try PostgresStore(location.target, now: { clock.now }) }
            let reports = MessageReports()
            nodes[1].openInApp { reports.add($0) }
            try await body(nodes[0], nodes[1], reports)
        }
    }

    private static func register(_ id: MessageID, by store: PostgresStore) async throws {
        _ = try await store.register(InAppRegistration(id: id, body: Array("{}".utf8)))
    }

    /// Begins a transaction of another process that changes messages.
    private static func begin(_ ids: [MessageID], next to: PostgresStore) throws -> PostgresConnection {
        let connection = try PostgresConnection(to.target.with(["idle_in_transaction_session_timeout=0"]))
        _ = try connection.run("BEGIN")
        try change(ids, on: connection)
        return connection
    }

    private static func change(_ ids: [MessageID], on connection: PostgresConnection) throws {
        _ = try connection.run(
            """
            WITH changed AS (
                INSERT INTO inapp_messages (id, revision, registered_at, body)
                SELECT id, 1, 1, '{}' FROM unnest($1) AS given (id) RETURNING id
            ) INSERT INTO inapp_changes (transaction, message, at)
            SELECT pg_current_xact_id()::text::bigint, id, 1 FROM changed
            """, [.texts(ids)])
    }

    @Test func looksReadEachChangeOnceNextToALongTransaction() async throws {
        try await Self.withNodes { first, second, reports in
            let long = try Self.begin(["late"], next: first)
            for number in 0..<20 {
                try await Self.register("m\(number)", by: first)
                for _ in 0..<3 { _ = try await second.tick() }
            }
            #expect(second.inAppChanges.rowsRead == 20)
            #expect(reports.count == 20 && reports.last["late"] == nil)
            _ = try long.run("COMMIT")
            for _ in 0..<3 { _ = try await second.tick() }
            #expect(second.inAppChanges.rowsRead == 21)
            #expect(reports.count == 21 && reports.last["late"] != nil)
        }
    }

    @Test func changesAreSeenInTheOrderOfCommits() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        try await Self.withNodes { first, second, reports in
            var open: [(id: MessageID, connection: PostgresConnection)] = []
            var committed: Set<MessageID> = []
            for number in 0..<40 {
                if open.count < 6, Bool.random(using: &random) || open.isEmpty {
                    open.append(("m\(number)", try Self.begin(["m\(number)"], next: first)))
                } else {
                    let (id, connection) = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                    let isCommit = Int.random(in: 0..<5, using: &random) > 0
                    _ = try connection.run(isCommit ? "COMMIT" : "ROLLBACK")
                    if isCommit { committed.insert(id) }
                }
                if Bool.random(using: &random) { _ = try await second.tick() }
            }
            _ = try await second.tick()
            #expect(Set(reports.last.keys) == committed, "seed \(seed)")
            #expect(reports.count == committed.count, "seed \(seed): each once")
        }
    }

    @Test func manyChangesAreReadInPages() async throws {
        try await Self.withNodes { first, second, reports in
            let count = 2 * InAppChanges.page + 1
            let (early, late) = (count / 2, count - count / 2)
            let long = try Self.begin((0..<early).map { "a\($0)" }, next: first)
            _ = try await second.tick()
            try Self.change((0..<late).map { "b\($0)" }, on: PostgresConnection(first.target))
            _ = try long.run("COMMIT")
            _ = try await second.tick()
            #expect(reports.last.count == count && second.inAppChanges.rowsRead == count)
            try await Self.register("m", by: first)
            _ = try await second.tick()
            #expect(reports.last["m"] != nil && second.inAppChanges.rowsRead == count + 1)
        }
    }

    @Test func aLostConnectionLosesNoChange() async throws {
        try await Self.withNodes { first, second, reports in
            try await Self.register("m", by: first)
            _ = try await second.tick()
            try await Self.register("n", by: first)
            second.inAppChanges.close()
            _ = try await second.tick()
            #expect(reports.last["n"] != nil)
        }
    }
}
