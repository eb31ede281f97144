import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Gateways on one database that run different configs, and the metrics that show it.
@Suite(.serialized, .timeLimit(.minutes(15))) struct NodeConfigTests {
    private static let isLong = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_LONG"] != nil

    /// The second gateway lacks a destination, and sends one request at a time to the other one. The first gateway
    /// delivers to both.
    @Test func deliversEverythingWithDifferentConfigs() async throws {
        let stage = NodeStage(config: { number, receiver in
            number == 0
                ? NodePlay.config(number, receiver)
                : NodePlay.config(number, receiver, hasBoth: false, concurrency: 1)
        })
        try await NodePlay.run(stage) { play, _ in
            try await play.accept(200)
            for node in play.nodes {
                try await eventually("the count of configs") { try await node.gateway.metric("fleet_configs") == 2 }
                let ready = try await node.gateway.get("/readyz")
                #expect(ready.status == 200 && !ready.text.contains("configsDiffer"), "they may for five minutes")
            }
            if Self.isLong { try await Self.warning(of: play) }
        }
    }

    /// After five minutes, both gateways report different configs in `/readyz` and in the log.
    private static func warning(of play: NodePlay) async throws {
        try await Task.sleep(for: .seconds(300))
        for node in play.nodes {
            try await eventually("configsDiffer") {
                try await node.gateway.get("/readyz").text.contains(#""configsDiffer":true"#)
            }
            for await line in node.gateway.process.errors.stream
            where line.contains("Gateways of this store have different configs.") { break }
        }
    }

    // MARK: Metrics

    @Test func bothGatewaysCountTheFleet() async throws {
        let record = NodeRecord()
        try await Self.withGateways(record) { gateways in
            #expect(try await gateways[0].post(Data(Self.rejected.utf8)).status == 202)
            for (gateway, count) in zip(gateways, [3, 2]) {
                for _ in 0..<count { #expect(try await gateway.post(Data(Self.payload.utf8)).status == 202) }
            }
            try await eventually("five attempts") { record.held == 5 }
            // The rejected payload is held until its outcome is stored.
            for (gateway, count) in zip(gateways, [3, 2]) {
                try await eventually("\(count) leases") {
                    try await gateway.metric("node_deliveries_held") == Double(count)
                }
            }
            let counts: [String: Double] = ["nodes": 2, "configs": 1, "deliveries_waiting": 5, "deliveries_dead": 1]
            try await Self.expectFleet(counts, gateways)
            record.release()
            for gateway in gateways {
                try await eventually("no lease") { try await gateway.metric("node_deliveries_held") == 0 }
                #expect(try await gateway.metric("node_leases_lost_total") == 0)
                #expect(try await gateway.metric("node_leases_taken_over_total") == 0)
                #expect(try await gateway.metric("fleet_oldest_due_seconds") == 0)
                let age = try await gateway.metric("node_heartbeat_age_seconds")
                #expect(age.map { (0..<12).contains($0) } ?? false)
            }
        }
    }

    @Test(.enabled(if: isLong, "takes half a minute")) func countsLeasesThatWereTakenOver() async throws {
        let record = NodeRecord()
        try await Self.withGateways(record) { gateways in
            for _ in 0..<3 { #expect(try await gateways[0].post(Data(Self.payload.utf8)).status == 202) }
            try await eventually("three attempts") { record.held == 3 }
            gateways[0].process.signal(SIGSTOP)
            try await eventually("the takeover") { try await gateways[1].metric("node_leases_taken_over_total") == 3 }
            try await eventually("the second attempts") { record.held == 6 }
            #expect(try await gateways[1].metric("node_deliveries_held") == 3)
            try await Self.expectFleet(["nodes": 1, "deliveries_waiting": 3], [gateways[1]])
            gateways[0].process.signal(SIGCONT)
            record.release()
            try await eventually("the lost outcomes") { try await gateways[0].metric("node_leases_lost_total") == 3 }
            #expect(try await gateways[1].metric("node_leases_lost_total") == 0)
            try await Self.expectFleet(["nodes": 2, "deliveries_waiting": 0], gateways)
        }
    }

    private static let payload = #"{"aps":{"alert":"x"}}"#
    private static let rejected = #"{"aps":{"alert":"rejected"}}"#

    /// Runs `body` with two gateways of one config and of one database. The receiver rejects one payload.
    private static func withGateways(
        _ record: NodeRecord, _ body: @escaping @Sendable ([Gateway]) async throws -> Void
    ) async throws {
        record.hold()
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                try await ReceivingServer.run(answer: { message in
                    let isRejected = String(decoding: message.body, as: UTF8.self).contains("rejected")
                    return isRejected ? 400 : await record.received(message)
                }) { receiver in
                    var gateways: [Gateway] = []
                    for place in ["\(directory)/0", "\(directory)/1"] {
                        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                        let config = Gateway.config(to: receiver.url, attempts: 1, timeout: "120s")
                        gateways.append(
                            try await Gateway.start(in: place, config: config, arguments: ["--store", database.url]))
                    }
                    try await body(gateways)
                    for gateway in gateways { #expect(await gateway.stop() == 0) }
                }
            }
        }
    }

    /// Waits until every gateway shows these values. One gateway counts for all of them, every ten seconds.
    private static func expectFleet(_ values: [String: Double], _ gateways: [Gateway]) async throws {
        for gateway in gateways {
            for (name, value) in values {
                try await eventually("\(name) \(value)") { try await gateway.metric("fleet_\(name)") == value }
            }
        }
    }
}

extension Gateway {
    /// The value of a metric without labels; nil if the page lacks it. `name`: without its prefix.
    func metric(_ name: String) async throws -> Double? {
        let prefix = "signalbox_\(name) "
        return try await metrics().split(separator: "\n").first { $0.hasPrefix(prefix) }
            .flatMap { Double($0.dropFirst(prefix.count)) }
    }
}
