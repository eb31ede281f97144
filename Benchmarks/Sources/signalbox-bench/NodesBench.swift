import Foundation
import SignalboxMeasures

/// The store of several gateways, in turn with a client that runs the same statements and does nothing else. Needs an
/// empty database of a PostgreSQL on this machine, which SIGNALBOX_BENCH_POSTGRES names.
struct NodesBench {
    let table: Table

    private static let variable = "SIGNALBOX_BENCH_POSTGRES"
    private static let schema = "signalbox_bench"
    /// Each pair measures the client first, then the store.
    private static let pairs = 5
    /// Events of each measurement.
    private static let events = 8000

    func run() async throws {
        guard let url = ProcessInfo.processInfo.environment[Self.variable], !url.isEmpty else {
            return table.section("PostgreSQL: left out, because \(Self.variable) names no database")
        }
        table.section("PostgreSQL, events of 1,200 bytes: the store, and its ratio to a bare libpq client")
        for size in [64, 256] {
            let rounds = Self.events / size
            try await row("appended by \(size), two connections (at least 0.7)", url) { measure in
                (try measure.bareAppend(rounds, by: size), try await measure.append(rounds, by: size))
            }
            try await row("handed over and settled by \(size) (at least 0.7)", url) { measure in
                (try measure.bareHandOver(rounds, by: size), try await measure.handOver(rounds, by: size))
            }
        }
        for (size, least) in [(50, "0.6"), (200, "0.7")] {
            let rounds = Self.events / size
            try await row("claimed and settled by \(size) (at least \(least))", url) { measure in
                try await measure.fill(2 * Self.events)
                return (try measure.bareClaim(rounds, by: size), try await measure.claim(rounds, by: size))
            }
        }
    }

    /// Each pair begins with empty tables.
    private func row(
        _ what: String, _ url: String, _ pair: (NodeMeasure) async throws -> (bare: Double, store: Double)
    ) async throws {
        var results: [(bare: Double, store: Double)] = []
        for _ in 0..<Self.pairs { results.append(try await pair(NodeMeasure(url: url, schema: Self.schema))) }
        let ratios = results.map { $0.store / $0.bare }.sorted()
        let rate = median(results.map(\.store)).readable
        table.row(
            what,
            "\(rate) events a second, \(median(ratios).readable) times"
                + " (\(ratios[0].readable) to \(ratios[ratios.count - 1].readable))")
    }
}
