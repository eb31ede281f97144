import Foundation
import SignalboxMeasures

/// Several gateways on one PostgreSQL. Starts a server of its own, unless SIGNALBOX_BENCH_POSTGRES names one, in which
/// it makes a database for each measurement and removes it.
struct NodesBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    /// Each pair measures the client first, then the store.
    private static let pairs = 5
    /// Events of each measurement.
    private static let events = 8000

    func run() async throws {
        let given = ProcessInfo.processInfo.environment["SIGNALBOX_BENCH_POSTGRES"] ?? ""
        let server = given.isEmpty ? try BenchPostgres() : nil
        let url = server?.url ?? given
        do {
            try await measure(try NodeMeasure.makeDatabase(at: url))
            try NodeMeasure.removeDatabase(at: url)
        } catch {
            try server?.stop()
            throw error
        }
        try server?.stop()
    }

    private func measure(_ url: String) async throws {
        try await compareWithClient(url)
        let backlog = NodesBacklogBench(database: url, table: table)
        try await backlog.compareNodes()
        try await backlog.measureSpilled()
        try await backlog.compareClaims()
        let gateways = NodesGatewayBench(
            binary: binary, workspace: workspace, payloads: payloads, table: table, database: url)
        // With the deliveries that the claims have left.
        try await gateways.measureMemory()
        try await gateways.run()
    }

    // MARK: The bare client

    /// The store in turn with a client that runs the same statements and does nothing else.
    private func compareWithClient(_ url: String) async throws {
        table.section("PostgreSQL, events of 1,200 bytes: the store, and its ratio to a bare libpq client")
        for size in [64, 256] {
            let rounds = Self.events / size
            try await row("appended by \(size), two connections", "at least 0.7", url) { measure in
                (try measure.bareAppend(rounds, by: size), try await measure.append(rounds, by: size))
            }
            try await row("handed over and settled by \(size)", "at least 0.7", url) { measure in
                (try measure.bareHandOver(rounds, by: size), try await measure.handOver(rounds, by: size))
            }
        }
        for (size, least) in [(50, "at least 0.6"), (200, "at least 0.7")] {
            let rounds = Self.events / size
            try await row("claimed and settled by \(size)", least, url) { measure in
                try await measure.fill(2 * Self.events + size)
                return (try measure.bareClaim(rounds, by: size), try await measure.claim(rounds, by: size))
            }
        }
    }

    /// Each pair begins with empty tables.
    private func row(
        _ what: String, _ limit: String, _ url: String,
        _ pair: (NodeMeasure) async throws -> (bare: Double, store: Double)
    ) async throws {
        var results: [(bare: Double, store: Double)] = []
        for _ in 0..<Self.pairs { results.append(try await pair(NodeMeasure(database: url))) }
        let rate = median(results.map(\.store)).readable
        table.row(
            what, "\(rate) events a second, \(BeforeBench.words(results.map { $0.store / $0.bare })) (\(limit))")
    }
}
