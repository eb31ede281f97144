import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Gateways whose primary is killed under load, and whose standby takes its place.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FailoverTests {
    @Test func aSynchronousStandbyHasEveryAcceptedEvent() async throws {
        let primary = try await PostgresServer.start(settings: ["synchronous_standby_names=standby"])
        let standby = try await primary.startStandby()
        try await NodePlay.run(Self.stage(primary, standby)) { play, _ in
            try await play.accept(200)
            try await Self.failOver(play, to: standby)
            try await play.accept(200)
        }
    }

    /// The standby lacks the last commits. Numbers of deliveries are given again, while attempts of the first ones with
    /// these numbers are in progress.
    @Test func recordsNoOutcomeOnAWrongDeliveryAfterLostCommits() async throws {
        let primary = try await PostgresServer.start()
        let replication = try CuttingProxy(to: primary.port)
        let standby = try await primary.startStandby(through: replication.port)
        try await NodePlay.run(Self.stage(primary, standby)) { play, _ in
            try await play.accept(100)
            replication.set(.hold)
            try await play.accept(30)
            play.record.hold()
            try await play.accept(60)
            let last = try play.number(Self.lastDelivery)
            // A sequence skips at most 32 numbers.
            #expect(try Self.lastDelivery(on: standby) + 32 < last, "numbers are given again, seed \(play.seed)")
            play.record.databaseLosesOutcomes()
            try await Self.failOver(play, to: standby)
            try await play.wait("numbers that were given before") { try play.number(Self.lastDelivery) > last }
            play.record.release()
            try await play.accept(50)
        }
    }

    private static let lastDelivery = "SELECT coalesce(max(id), 0) FROM deliveries"

    private static func lastDelivery(on standby: PostgresServer) throws -> Int {
        let target = PostgresTarget(url: standby.url + "?target_session_attrs=any")
        return Int(try PostgresConnection(target).run(lastDelivery).first?.number(0) ?? -1)
    }

    private static func stage(_ primary: PostgresServer, _ standby: PostgresServer) -> NodeStage {
        NodeStage(database: primary, ports: [primary.port, standby.port])
    }

    /// Kills the primary and promotes the standby. Throws if a gateway does not become ready.
    private static func failOver(_ play: NodePlay, to standby: PostgresServer) async throws {
        try await play.database.crash()
        try await play.postUntilRefused()
        try await standby.promote()
        play.follow(standby)
        for node in play.nodes {
            try await eventually("readiness") { try await node.gateway.get("/readyz").status == 200 }
        }
    }
}
