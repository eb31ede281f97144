import Foundation
import SignalboxServerTesting
import Testing

/// Gateways of two releases on one PostgreSQL database, as during a rolling update. `make nodes-long` runs it with the
/// binary of an earlier release.
@Suite(.serialized, .timeLimit(.minutes(60))) struct NodeReleaseTests {
    /// The binary of the earlier release; nil without one.
    private static let before = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_BEFORE"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// Three gateways are replaced one after another under load. One gateway of each release is killed while both
    /// releases run.
    @Test(.enabled(if: before != nil)) func gatewaysOfTwoReleasesShareADatabase() async throws {
        let before = BuiltBinary(at: try #require(Self.before))
        let stage = NodeStage(nodes: 3, binary: { $0 < 3 ? before : binary })
        try await NodePlay.run(stage) { play, _ in
            try await play.accept(200)
            // It migrates the tables while the others write.
            try await play.startNode()
            try await play.accept(300)
            try await play.kill(0)
            try await play.startNode()
            try await play.accept(300)
            try await play.kill(3)
            try await play.startNode()
            try await play.accept(300)
            for place in 1...2 {
                let member = play.retire(place)
                #expect(await member.gateway.stop() == 0, "seed \(play.seed)")
                try await play.accept(200)
            }
        }
    }
}
