import Foundation
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Plays of several nodes on one database, on the level of the store. `make nodes-long` runs longer ones.
@Suite(.serialized, .timeLimit(.minutes(30))) struct NodePlayTests {
    private static let isLong = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_LONG"] != nil

    @Test(arguments: [2, 3]) func withoutFaultsEveryEventArrivesOnce(nodes: Int) async throws {
        try await NodePlay.run(nodes: nodes, disk: .fast) { play, _ in try await play.accept(500) }
    }

    @Test func keepsEveryEventThroughCutCommits() async throws {
        try await NodePlay.run(nodes: Self.isLong ? 3 : 2, disk: .fast) { play, random in
            for node in play.nodes { node.proxy.cutOne(in: 15, seed: random.next()) }
            // Events share commits, so one round may have few cuts.
            repeat {
                try await play.accept(Self.isLong ? 5000 : 400)
            } while play.nodes.map(\.proxy.cuts).reduce(0, +) <= 10
        }
    }

    @Test func keepsEveryEventThroughTerminatedConnections() async throws {
        try await NodePlay.run(disk: .fast) { play, _ in
            let admin = try PostgresAdmin(play.target)
            for _ in 0..<(Self.isLong ? 30 : 6) {
                try await play.accept(60)
                try admin.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        + "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
            }
        }
    }

    @Test func keepsEveryEventOfAKilledServer() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(50)
            let incarnations = try await Self.incarnations(of: play)
            for _ in 0..<(Self.isLong ? 10 : 2) {
                try await play.accept(100)
                try await play.server.crash()
                try await play.server.start()
            }
            try await play.accept(100)
            #expect(try await Self.incarnations(of: play) == incarnations, "no node takes over, seed \(play.seed)")
        }
    }

    @Test func takesOverFromAKilledNode() async throws {
        try await NodePlay.run { play, random in
            for _ in 0..<(Self.isLong ? 10 : 1) {
                try await play.accept(100)
                let victim = try #require(play.nodes.filter(\.isRunning).randomElement(using: &random))
                let node = try #require(victim.store.membership.incarnation?.node)
                let database = try PostgresConnection(play.target)
                let begun = ContinuousClock.now
                try play.replace(victim)
                try await play.wait("the takeover from a killed node") {
                    try database.run("SELECT 1 FROM nodes WHERE id = $1 AND is_live", [.number(node)]).isEmpty
                        && database.run("SELECT 1 FROM queue WHERE holder = $1 LIMIT 1", [.number(node)]).isEmpty
                }
                #expect(ContinuousClock.now - begun < NodeMembership.lifetime + .seconds(5), "seed \(play.seed)")
            }
        }
    }

    /// A node that nothing reaches, and that reaches nothing, until others have taken over from it. Then it continues.
    @Test func takesOverFromANodeThatIsCutOff() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(100)
            let lonely = try #require(play.nodes.first)
            let node = try #require(lonely.store.membership.incarnation?.node)
            let database = try PostgresConnection(play.target)
            lonely.proxy.set(.hold)
            try await play.wait("the end of its safety") { !lonely.store.membership.isSafe }
            #expect(!lonely.store.isActive(PlayNode.crm))
            try await play.wait("the takeover from a node that is cut off") {
                try database.run("SELECT 1 FROM nodes WHERE id = $1 AND is_live", [.number(node)]).isEmpty
            }
            lonely.proxy.set(.forward)
            try await play.wait("its return as another incarnation") {
                lonely.store.membership.incarnation.map { $0.node != node && lonely.store.membership.isSafe } ?? false
            }
            try await play.accept(100)
        }
    }

    @Test func retriesTransactionsThatConflict() async throws {
        try await NodePlay.run(disk: .fast) { play, _ in
            let admin = try PostgresAdmin(play.target)
            try admin.run("SET search_path = \(play.schema)")
            try admin.run(
                """
                CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF random() < 0.1 THEN RAISE EXCEPTION 'crossed' USING ERRCODE = '40001'; END IF;
                    RETURN NULL;
                END $$
                """)
            for table in ["events", "queue", "ended"] {
                try admin.run(
                    "CREATE TRIGGER conflicts AFTER INSERT OR UPDATE OR DELETE ON \(table) "
                        + "FOR EACH STATEMENT EXECUTE FUNCTION conflict()")
            }
            try await play.accept(300)
            for table in ["events", "queue", "ended"] { try admin.run("DROP TRIGGER conflicts ON \(table)") }
            #expect(play.record.refusedNumbers.isEmpty, "a conflict is not an error for senders, seed \(play.seed)")
        }
    }

    @Test func recoversFromAReadOnlyServer() async throws {
        try await NodePlay.run(disk: .fast) { play, _ in
            let admin = try PostgresAdmin(play.target)
            try await play.accept(50)
            try admin.run("ALTER ROLE signalbox SET default_transaction_read_only = on")
            try admin.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    + "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
            let refused = play.record.refusedNumbers.count
            try await play.wait("refused appends") { play.record.refusedNumbers.count > refused + 10 }
            try admin.run("ALTER ROLE signalbox SET default_transaction_read_only = off")
            try await play.accept(50)
        }
    }

    @Test(.enabled(if: PostgresServer.canLimitDisks, "only root can mount a file system"))
    func recoversFromAFullDisk() async throws {
        try await NodePlay.run(disk: .small(mebibytes: 200)) { play, _ in
            try await play.accept(50)
            try await play.server.fill()
            let refused = play.record.refusedNumbers.count
            try await play.wait("refused appends") { play.record.refusedNumbers.count > refused + 10 }
            try await play.server.free()
            // A server that cannot write its log ends; an operator starts it again.
            try await play.server.start()
            try await play.accept(50)
        }
    }

    @Test func keepsEveryEventOfASlowServer() async throws {
        try await NodePlay.run(disk: .fast) { play, _ in
            try await play.accept(50)
            for node in play.nodes { node.proxy.delay(by: .seconds(1)) }
            try await play.accept(20)
        }
    }

    /// An old snapshot keeps dead rows. Claims become slower, within a bound. `SIGNALBOX_NODES_HELD`: how long it is
    /// open, in seconds.
    @Test(.enabled(if: isLong, "takes minutes")) func keepsDeliveringNextToAnOldSnapshot() async throws {
        let seconds = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_HELD"].flatMap(Int.init) ?? 30
        try await NodePlay.run { play, _ in
            try await play.accept(1000)
            _ = play.record.takeClaims()
            try await play.accept(3000)
            let before = play.record.takeClaims()
            let reader = try PostgresConnection(play.target)
            _ = try reader.run("SET idle_in_transaction_session_timeout = 0")
            _ = try reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
            _ = try reader.run("SELECT count(*) FROM queue")
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end { try await play.accept(100) }
            // The claims of the end, when dead rows are most.
            _ = play.record.takeClaims()
            try await play.accept(3000)
            let next = play.record.takeClaims()
            _ = try reader.run("COMMIT")
            for counts in [before, next] {
                #expect(counts.values.reduce(0) { $0 + $1.count } >= 100, "seed \(play.seed)")
            }
            for destination in [PlayNode.crm, PlayNode.line] {
                let (first, last) = (try #require(before[destination]), try #require(next[destination]))
                print(
                    "claims from \(destination): p99 \(first.p99) of \(first.count), then \(last.p99) of \(last.count)")
                #expect(last.p99 <= first.p99 * 3, "seed \(play.seed)")
            }
        }
    }

    private static func incarnations(of play: NodePlay) async throws -> [Int64] {
        try PostgresConnection(play.target).run("SELECT id FROM nodes ORDER BY id").map { try $0.number(0) }
    }
}
