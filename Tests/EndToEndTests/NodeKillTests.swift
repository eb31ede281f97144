import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// Several gateways on one PostgreSQL database that are killed, stopped and cut off under load. `make nodes-long` runs
/// longer plays.
@Suite(.serialized, .timeLimit(.minutes(60))) struct NodeKillTests {
    private static let isLong = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_LONG"] != nil

    @Test func aKilledNodeIsTakenOver() async throws {
        try await NodePlay.run(NodeStage(nodes: Self.isLong ? 3 : 2)) { play, random in
            for _ in 0..<(Self.isLong ? 10 : 1) {
                try await play.accept(100)
                let place = try #require(
                    play.nodes.indices.filter { play.nodes[$0].isUp }.randomElement(using: &random))
                let time = try await play.kill(place)
                #expect(time < .seconds(18), "15 s and 3 s, seed \(play.seed)")
                try await play.startNode()
            }
        }
    }

    @Test func aStoppedNodeLosesItsLeases() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(100)
            let live = try await play.registered()
            play.record.hold()
            try await play.wait("attempts in progress") { play.record.held >= 16 }
            let stopped = play.retire(0)
            stopped.gateway.process.signal(SIGSTOP)
            try await play.wait("the takeover from a stopped gateway") {
                try play.number("SELECT count(*) FROM nodes WHERE is_live") == live - 1
            }
            try await play.wait("another attempt of a delivery in progress") { !play.record.overlaps.isEmpty }
            play.record.release()
            if Self.isLong { try await Task.sleep(for: .seconds(45)) }
            try await play.accept(50)
            play.record.gatewayContinues()
            stopped.gateway.process.signal(SIGCONT)
            play.bringBack(0)
            try await play.wait("its return") { try play.number("SELECT count(*) FROM nodes WHERE is_live") == live }
            try await play.accept(100)
        }
    }

    @Test func keepsEveryEventOfAKilledDatabase() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(50)
            let nodes = try play.number("SELECT count(*) FROM nodes")
            for _ in 0..<(Self.isLong ? 10 : 2) {
                try await play.database.crash()
                try await play.postUntilRefused()
                try await play.database.start()
                try await play.accept(100)
            }
            #expect(try play.number("SELECT count(*) FROM nodes") == nodes, "no node takes over, seed \(play.seed)")
        }
    }

    @Test func aNodeThatIsCutOffRefusesEvents() async throws {
        try await NodePlay.run { play, _ in
            try await play.accept(50)
            let lonely = play.retire(0)
            lonely.proxy.set(.hold)
            let begun = ContinuousClock.now
            async let refusal = Self.refusal(by: lonely.gateway)
            while try await lonely.gateway.get("/readyz").status == 200 { await Task.yield() }
            #expect(ContinuousClock.now - begun < .seconds(12), "seed \(play.seed)")
            #expect(try await lonely.gateway.get("/readyz").status == 503, "seed \(play.seed)")
            #expect(try await refusal == 503, "seed \(play.seed)")
            // A post waits for 15 s for the outcome of its commit.
            #expect(ContinuousClock.now - begun < .seconds(16), "seed \(play.seed)")
            try await play.accept(20)
            lonely.proxy.set(.forward)
            while try await lonely.gateway.get("/readyz").status != 200 { await Task.yield() }
            play.bringBack(0)
            try await play.accept(100)
        }
    }

    /// Posts until a post is not accepted; returns the status.
    private static func refusal(by gateway: Gateway) async throws -> Int {
        let payload = Data(#"{"message":{"token":"x","notification":{"title":"number 0 end"}}}"#.utf8)
        var status = 202
        while status == 202 { status = try await gateway.post(payload).status }
        return status
    }

    @Test func keepsEveryEventThroughCutCommits() async throws {
        try await NodePlay.run { play, random in
            for node in play.nodes { node.proxy.cutOne(in: 20, seed: random.next()) }
            try await play.accept(Self.isLong ? 3000 : 200)
            for node in play.nodes { node.proxy.cutOne(in: nil) }
        }
    }
}
