import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Gateways whose transactions meet deadlocks and serialisation failures, and whose connections end. Senders notice
/// none of them.
@Suite(.serialized, .timeLimit(.minutes(15))) struct NodeConflictTests {
    private static let isLong = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_LONG"] != nil

    /// A session locks rows of a gateway's transactions in the opposite order.
    @Test func retriesTransactionsThatMeetADeadlock() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(50)
            let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"
            let before = try play.number(deadlocks)
            for lane in [WriterLane.appends, .settlements] { try await Self.cross(lane, in: play) }
            try await play.wait("two deadlocks") { try play.number(deadlocks) >= before + 2 }
            try await play.accept(50)
            Self.expectNoRefusal(play)
        }
    }

    /// A transaction of a lane changes its mark first and its ledger last.
    private static func cross(_ lane: WriterLane, in play: NodePlay) async throws {
        // The gateway notices the deadlock first, so its transaction ends.
        let settings = ["deadlock_timeout=10s", "lock_timeout=0", "idle_in_transaction_session_timeout=0"]
        let session = try PostgresConnection(PostgresTarget(url: play.primaryURL).with(settings))
        let own = try session.run("SELECT pg_backend_pid()::bigint").first?.number(0) ?? 0
        let node = try session.run("SELECT min(id) FROM nodes WHERE is_live").first?.number(0) ?? 0
        let values: [PostgresValue] = [.number(node), .number(lane.rawValue)]
        _ = try session.run("BEGIN")
        let ledger = try session.run("SELECT 1 FROM ledger WHERE node = $1 AND lane = $2 FOR UPDATE", values)
        try #require(ledger.first != nil)
        try await play.wait("a transaction that waits for the ledger") {
            try play.number("SELECT count(*) FROM pg_stat_activity WHERE \(own) = ANY (pg_blocking_pids(pid))") > 0
        }
        _ = try session.run("SELECT 1 FROM marks WHERE node = $1 AND lane = $2 FOR UPDATE", values)
        _ = try session.run("COMMIT")
    }

    /// Many requests at once, whose keys reach two gateways in opposite orders.
    @Test(.enabled(if: isLong, "part of make nodes-long"))
    func acceptsEachIdempotencyKeyOnceInCrossedOrders() async throws {
        try await NodePlay.run { play, _ in
            let keys = (0..<60).map { "request-\($0)" }
            let answers = try await withThrowingTaskGroup(of: [String: String].self) { group in
                for turn in 0..<4 {
                    let order = turn % 2 == 0 ? keys : keys.reversed()
                    group.addTask { try await Self.post(order, to: play.nodes[turn % 2].gateway) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let first = try #require(answers.first)
            #expect(first.count == keys.count, "seed \(play.seed)")
            #expect(answers.allSatisfy { $0 == first }, "all receive the same answer, seed \(play.seed)")
            Self.expectNoRefusal(play)
        }
    }

    /// Posts requests, ten at a time; returns the event of each key.
    private static func post(_ keys: [String], to gateway: Gateway) async throws -> [String: String] {
        var events: [String: String] = [:]
        for start in stride(from: 0, to: keys.count, by: 10) {
            try await withThrowingTaskGroup(of: (String, String).self) { group in
                for key in keys[start..<min(start + 10, keys.count)] {
                    group.addTask {
                        let payload = Data(#"{"message":{"token":"\#(key)","notification":{"title":"T"}}}"#.utf8)
                        let (status, receipt) = try await gateway.post(payload, headers: [("idempotency-key", key)])
                        #expect(status == 202)
                        return (key, try #require(receipt["id"] as? String))
                    }
                }
                for try await (key, event) in group { events[key] = event }
            }
        }
        return events
    }

    @Test(.enabled(if: isLong, "part of make nodes-long"))
    func retriesTransactionsThatCannotBeSerialised() async throws {
        try await NodePlay.run { play, _ in
            let admin = try PostgresConnection(PostgresTarget(url: play.primaryURL))
            _ = try admin.run(
                """
                CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF random() < 0.1 THEN RAISE EXCEPTION 'crossed' USING ERRCODE = '40001'; END IF;
                    RETURN NULL;
                END $$
                """)
            let tables = ["events", "queue", "ended"]
            for table in tables {
                _ = try admin.run(
                    "CREATE TRIGGER conflicts AFTER INSERT OR UPDATE OR DELETE ON \(table) "
                        + "FOR EACH STATEMENT EXECUTE FUNCTION conflict()")
            }
            try await play.accept(200)
            for table in tables { _ = try admin.run("DROP TRIGGER conflicts ON \(table)") }
            Self.expectNoRefusal(play)
        }
    }

    /// Sessions end each second. Their transactions are repeated, so the gateways accept at 0.3 of their rate at least.
    @Test(.enabled(if: isLong, "takes half a minute")) func keepsItsRateWhileSessionsEnd() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(200)
            let rate = try await Self.rate(of: play) {}
            let admin = try PostgresConnection(PostgresTarget(url: play.primaryURL))
            let disturbed = try await Self.rate(of: play) {
                _ = try admin.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        + "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
            }
            print("accepted in ten seconds: \(rate), with ended sessions \(disturbed)")
            #expect(Double(disturbed) >= 0.3 * Double(rate), "seed \(play.seed)")
        }
    }

    /// The number of events that are accepted in ten seconds. `disturb`: called each second.
    private static func rate(of play: NodePlay, _ disturb: () throws -> Void) async throws -> Int {
        let before = play.record.accepted
        for _ in 0..<10 {
            try disturb()
            try await Task.sleep(for: .seconds(1))
        }
        return play.record.accepted - before
    }

    private static func expectNoRefusal(_ play: NodePlay) {
        #expect(play.record.refused == 0, "no conflict is an error for senders, seed \(play.seed)")
        #expect(play.record.unanswered == 0, "seed \(play.seed)")
    }
}
