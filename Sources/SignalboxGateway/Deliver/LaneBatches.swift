import SignalboxConfig
import SignalboxStore

/// The requests into which a lane's deliveries go: one for each, unless its format batches.
struct LaneBatches: Sendable {
    private let limits: Destination.Batch?
    private var cutter: BatchCutter?
    /// Complete, but there was no place for them.
    private var ready: [[Lease]] = []

    init(_ limits: Destination.Batch?) {
        self.limits = limits
        cutter = limits.map { BatchCutter($0) }
    }

    /// How many deliveries so many requests can take; none while there are complete ones, so that few bodies wait here.
    func room(for places: Int) -> Int {
        guard let limits, let cutter else { return places }
        return ready.isEmpty ? max(0, min(places * limits.count, Self.mostAtOnce) - cutter.count) : 0
    }

    private static let mostAtOnce = 1024

    /// Takes deliveries in and gives what can be sent now. `all`: also what is not complete.
    mutating func take(_ leases: [Lease], upTo places: Int, at now: Duration, all: Bool) -> [[Lease]] {
        guard cutter != nil else { return leases.map { [$0] } }
        for lease in leases { ready += cutter?.add(lease, at: now) ?? [] }
        ready += (all ? cutter?.flush() : cutter?.cut(at: now)) ?? []
        let taken = Array(ready.prefix(places))
        ready.removeFirst(taken.count)
        return taken
    }

    var isEmpty: Bool { ready.isEmpty && cutter?.count ?? 0 == 0 }

    /// When the next one is complete by its age.
    var due: Duration? { cutter?.due }

    /// What was never sent.
    mutating func takeAll() -> [Lease] {
        defer { ready = [] }
        return ready.flatMap(\.self) + (cutter?.flush() ?? []).flatMap(\.self)
    }
}
