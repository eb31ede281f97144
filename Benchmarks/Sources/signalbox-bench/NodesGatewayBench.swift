import Foundation
import SignalboxMeasures

/// Gateways on PostgreSQL as processes, with the load generator, a receiver and the server on the same machine: end to
/// end in turn with SQLite, and their memory.
struct NodesGatewayBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table
    /// The URL of a database for measurements.
    let database: String

    private static let (connections, seconds, rounds) = (80, 5, 5)
    private static let concurrency = 128

    func run() async throws {
        table.section(
            "Gateways, \(Self.connections) connections for \(Self.seconds) s, \(Self.rounds) rounds in turn: accepted and delivered"
        )
        let script = try script()
        var rates: [(sqlite: Double, one: Double, two: Double)] = []
        for round in 0..<Self.rounds {
            let sqlite = try await deliver(script, "sqlite-\(round)")
            let one = try await deliver(script, "one-\(round)", nodes: 1)
            rates.append((sqlite, one, try await deliver(script, "two-\(round)", nodes: 2)))
        }
        table.row("SQLite", "\(median(rates.map(\.sqlite)).readable) events a second")
        table.row(
            "PostgreSQL, to SQLite",
            "\(median(rates.map(\.one)).readable) events a second,"
                + " \(BeforeBench.words(rates.map { $0.one / $0.sqlite })) (at least 0.4)")
        table.row(
            "two gateways, to one",
            "\(median(rates.map(\.two)).readable) events a second,"
                + " \(BeforeBench.words(rates.map { $0.two / $0.one })) (at least 1)")
        try await BeforeBench(binary: binary, table: table).row("SQLite, to the build before", pairs: 7) {
            binary, data in
            try await deliver(script, data, binary: binary)
        }
    }

    /// Returns how many events arrived in a second. `nodes`: gateways on PostgreSQL, which share the connections; 0
    /// for one with SQLite.
    private func deliver(
        _ script: String, _ data: String, nodes: Int = 0, binary: String? = nil
    ) async throws -> Double {
        if nodes > 0 { try NodeMeasure.clear(database: database) }
        let receiver = ReceiverMeasure()
        return try await receiver.run { url in
            let gateways = try (0..<max(1, nodes)).map { node in
                try GatewayProcess(
                    binary: binary ?? self.binary, workspace: workspace, data: "\(data)-\(node)",
                    config: config(crm: url), store: nodes == 0 ? nil : database)
            }
            defer { for gateway in gateways { gateway.stop() } }
            let start = ContinuousClock.now
            let loads = try gateways.map {
                try RunningLoad(
                    script: script, connections: Self.connections / gateways.count, seconds: Self.seconds, url: $0.url)
            }
            let accepted = try loads.reduce(0) { $0 + (try $1.result().accepted) }
            await receiver.wait(for: accepted)
            return Double(accepted) / ((ContinuousClock.now - start) / .seconds(1))
        }
    }

    /// The memory of a gateway that starts with a million waiting deliveries, and accepts more, while its receiver
    /// never answers.
    func measureMemory() async throws {
        let silence = try SilentServer()
        defer { withExtendedLifetime(silence) {} }
        let gateway = try GatewayProcess(
            binary: binary, workspace: workspace, data: "backlog", config: config(crm: silence.url), store: database)
        defer { gateway.stop() }
        let load = try Load.run(
            script: try script(), connections: Self.connections, seconds: Self.seconds, url: gateway.url)
        table.row(
            "memory of a gateway with these waiting",
            "\(Int(gateway.peakMB)) MB after \(load.accepted) more events (at most 150)")
    }

    private func script() throws -> String {
        let texts = payloads.mixed.prefix(200).map { String(decoding: $0, as: UTF8.self).replacing("\n", with: " ") }
        return try Load.script(posting: texts, in: workspace)
    }

    /// The route ignores the periods that payloads set, because every accepted event must arrive.
    private func config(crm: String) -> String {
        """
        { "egress": { "allow": ["127.0.0.0/8"] },
          "destinations": {
            "crm": { "url": "\(crm)", "secret": "env:WEBHOOK_SECRET", "concurrency": \(Self.concurrency) } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"], "ignore": ["notBefore", "notAfter"] } ] }
        """
    }
}
