import Foundation

/// This build in turn with an earlier one, whose path is in SIGNALBOX_BENCH_BEFORE.
struct BeforeBench {
    let binary: String
    let table: Table

    /// Adds a row with the ratio of this build's rate to that of the earlier one, and the limit. `rate`: measures a
    /// binary; `data` is a name that no other measurement has.
    func row(
        _ what: String, pairs: Int, rate: (_ binary: String, _ data: String) async throws -> Double
    ) async throws {
        guard let before = ProcessInfo.processInfo.environment["SIGNALBOX_BENCH_BEFORE"], !before.isEmpty else {
            return table.row(what, "left out: SIGNALBOX_BENCH_BEFORE names no binary")
        }
        var ratios: [Double] = []
        for pair in 0..<pairs {
            let earlier = try await rate(before, "before-\(pair)")
            ratios.append(try await rate(binary, "now-\(pair)") / earlier)
        }
        table.row(what, "\(Self.words(ratios)) (at least 0.99)")
    }

    /// The median of ratios, with the lowest and the highest one: both sides of a pair vary.
    static func words(_ ratios: [Double]) -> String {
        let text = { (value: Double) in String(format: "%.3f", value) }
        return "\(text(median(ratios))) times, \(text(ratios.min() ?? 0)) to \(text(ratios.max() ?? 0))"
    }
}
