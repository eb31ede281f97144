import Foundation
import SignalboxMeasures

/// Stores on one database: two at once, deliveries for which a node has no room, and a long backlog.
struct NodesBacklogBench {
    /// The URL of a database for measurements.
    let database: String
    let table: Table

    private static let pairs = 5
    private static let backlog = 1_000_000

    // MARK: Two nodes

    /// The rate of two nodes divided by that of one, as long as one leaves enough of the machine to the second.
    func compareNodes() async throws {
        table.section("PostgreSQL: two stores on one database")
        try await compareNodes("two to one: appended by 8, one task each") { measure, nodes, begin in
            try await measure.append(400, by: 8, tasks: 1, nodes: nodes, begin: begin)
        }
        try await compareNodes("two to one: claimed and settled by 50") { measure, nodes, begin in
            try await measure.fill(nodes * 5000)
            return try await measure.claim(100, by: 50, nodes: nodes, begin: begin)
        }
        // Shows how much work of a second connection the server has room for.
        try await compareNodes("the same on two connections of the bare client", least: nil) { measure, nodes, begin in
            try await measure.fill(nodes * 5000)
            try begin()
            return try measure.bareClaim(100, by: 50, connections: nodes)
        }
    }

    /// `least`: the goal; nil for none. `rate`: calls `begin` when the work begins that it measures.
    private func compareNodes(
        _ what: String, least: Double? = 1.6,
        _ rate: (NodeMeasure, _ nodes: Int, _ begin: () throws -> Void) async throws -> Double
    ) async throws {
        var (ratios, loads): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.pairs {
            var before = try MachineTime()
            let one = try await rate(try NodeMeasure(database: database), 1) { before = try MachineTime() }
            loads.append(try MachineTime().load(since: before))
            ratios.append(try await rate(try NodeMeasure(database: database), 2) {} / one)
        }
        let load = median(loads)
        let limit = least.map { least in
            // Two nodes at 1.6 times the rate of one need 1.6 times its processor time.
            load * least <= 1 ? " (at least \(least))" : " (no limit: one node leaves no room on this machine)"
        }
        table.row(what, BeforeBench.words(ratios) + (limit ?? ""))
        table.row("processors busy with one node", "\(Int(load * 100)) %")
    }

    // MARK: Room

    /// Deliveries that were committed without room in memory.
    func measureSpilled() async throws {
        let times = try await NodeMeasure(database: database).spillTimes(150).sorted()
        table.row(
            "spilled deliveries, commit to lease",
            "p50 \(times[times.count / 2].readable) ms, p99 \(Self.p99(times).readable) ms (at most 250)")
    }

    /// The slowest claims with few deliveries and with a million. Leaves the rest of these to the next measurement.
    func compareClaims() async throws {
        table.section("PostgreSQL: \(Double(Self.backlog).readable) waiting deliveries")
        let measure = try NodeMeasure(database: database, bytes: 200)
        let rounds = 400
        try await measure.fill(50 * rounds, by: 1000)
        let few = Self.p99(try await measure.claimTimes(rounds).sorted())
        let clock = ContinuousClock()
        let time = try await clock.measure { try await measure.fill(Self.backlog, by: 1000) } / .seconds(1)
        table.row("made", "in \(time.readable) s")
        let many = Self.p99(try await measure.claimTimes(rounds).sorted())
        table.row(
            "p99 of claims by 50, few and many waiting",
            "\(few.readable) and \(many.readable) ms: \((many / few).readable) times (at most 3)")
    }

    private static func p99(_ sorted: [Double]) -> Double { sorted[sorted.count * 99 / 100] }
}

/// The time that the processors of this machine have spent, from /proc/stat.
private struct MachineTime {
    private let busy: Double
    private let all: Double

    init() throws {
        let text = try String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let times = text.prefix { $0 != "\n" }.split(separator: " ").compactMap { Double($0) }
        guard times.count >= 8 else { throw CocoaError(.fileReadCorruptFile) }
        // Without those of guests, which the first two include.
        all = times[..<8].reduce(0, +)
        // The fourth and the fifth are idle, without and with a disk that works.
        busy = all - times[3] - times[4]
    }

    /// The share of the processors that worked, 0 to 1.
    func load(since earlier: MachineTime) -> Double { (busy - earlier.busy) / max(1, all - earlier.all) }
}
