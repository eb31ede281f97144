import SignalboxConfig
import SignalboxStore

/// Groups a lane's deliveries into requests: one delivery each, unless the format batches.
struct LaneBatches: Sendable {
    private let limits: Destination.Batch?
    private var cutter: BatchCutter?
    /// Complete batches that wait for a place.
    private var ready: [[Lease]] = []

    init(_ limits: Destination.Batch?) {
        self.limits = limits
        cutter = limits.map { BatchCutter($0) }
    }

    /// Number of deliveries to claim for so many requests. Zero while complete batches wait, to bound the memory.
    func room(for places: Int) -> Int {
        guard let limits, let cutter else { return places }
        return ready.isEmpty ? max(0, min(places * limits.count, Self.mostAtOnce) - cutter.count) : 0
    }

    private static let mostAtOnce = 1024

    /// Appends deliveries and returns the batches to send now. `all`: also incomplete ones.
    mutating func take(_ leases: [Lease], upTo places: Int, at now: Duration, all: Bool) -> [[Lease]] {
        guard cutter != nil else { return leases.map { [$0] } }
        for lease in leases { ready += cutter?.add(lease, at: now) ?? [] }
        ready += (all ? cutter?.flush() : cutter?.cut(at: now)) ?? []
        let taken = Array(ready.prefix(places))
        ready.removeFirst(taken.count)
        return taken
    }

    var isEmpty: Bool { ready.isEmpty && cutter?.count ?? 0 == 0 }

    /// When the next batch becomes complete by its age.
    var due: Duration? { cutter?.due }

    /// Removes and returns all deliveries that were not sent.
    mutating func takeAll() -> [Lease] {
        defer { ready = [] }
        return ready.flatMap(\.self) + (cutter?.flush() ?? []).flatMap(\.self)
    }
}
