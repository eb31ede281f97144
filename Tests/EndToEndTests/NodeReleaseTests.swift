import Foundation
import SignalboxServerTesting
import Testing

/// Gateways of two releases on one PostgreSQL database, as during an update without a pause. `make nodes-long` runs it
/// with the binary of an earlier release.
@Suite(.serialized, .timeLimit(.minutes(60))) struct NodeReleaseTests {
    /// The binary of the earlier release; nil without one.
    private static let before = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_BEFORE"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// Three gateways are replaced one after another under load. Of each release, one is killed while both are there.
    @Test(.enabled(if: before != nil)) func gatewaysOfTwoReleasesShareADatabase() async throws {
        let before = BuiltBinary(at: try #require(Self.before))
        let stage = NodeStage(nodes: 3, binary: { $0 < 3 ? before : binary })
        try await NodePlay.run(stage) { play, _ in
            try await play.accept(200)
            // It migrates the tables while the others write.
            try await play.startNode()
            try await play.accept(300)
            try await Self.kill(0, of: play)
            try await play.startNode()
            try await play.accept(300)
            try await Self.kill(3, of: play)
            try await play.startNode()
            try await play.accept(300)
            for place in 1...2 {
                let member = play.retire(place)
                #expect(await member.gateway.stop() == 0, "seed \(play.seed)")
                try await play.accept(200)
            }
        }
    }

    /// Kills a gateway, and waits until others have taken over its leases.
    private static func kill(_ place: Int, of play: NodePlay) async throws {
        let live = try play.number("SELECT count(*) FROM nodes WHERE is_live")
        await play.retire(place).gateway.kill()
        try await play.wait("the takeover from a killed gateway") {
            try play.number("SELECT count(*) FROM nodes WHERE is_live") == live - 1
                && play.number(NodePlay.abandoned) == 0
        }
    }
}
