import Foundation
import SignalboxConfig
import SignalboxStore

/// Groups a lane's deliveries into requests: one delivery each, unless the format batches. Only the lane's own task
/// uses it.
struct LaneBatches: Sendable {
    private let limits: Destination.Batch?
    private var cutter: BatchCutter?
    /// Complete batches that wait for a place.
    private var ready: [[Lease]] = []

    /// `limits`: nil for a format with one event in each request.
    init(_ limits: Destination.Batch?) {
        self.limits = limits
        cutter = limits.map { BatchCutter($0) }
    }

    /// Number of deliveries to claim for `places` requests. Zero while complete batches wait, to bound the memory.
    func room(for places: Int) -> Int {
        guard let limits, let cutter else { return places }
        return ready.isEmpty ? max(0, min(places * limits.count, Self.mostAtOnce) - cutter.count) : 0
    }

    /// Upper bound of deliveries that a lane holds back for batches.
    private static let mostAtOnce = 1024

    /// Appends deliveries and returns the batches to send now. `all`: including incomplete batches. Without batches it
    /// returns every delivery as a batch of its own. Batches beyond `places` wait for the next call. `wallClock`: the
    /// queue's time at `now`.
    mutating func take(
        _ leases: [Lease], upTo places: Int, at now: Duration, wallClock: Date, all: Bool
    ) -> [[Lease]] {
        guard cutter != nil else { return leases.map { [$0] } }
        for lease in leases { ready += cutter?.add(lease, at: now, wallClock: wallClock) ?? [] }
        ready += (all ? cutter?.flush() : cutter?.cut(at: now)) ?? []
        let taken = Array(ready.prefix(places))
        ready.removeFirst(taken.count)
        return taken
    }

    /// Adds complete batches, which are sent before the others.
    mutating func insert(_ batches: [[Lease]]) {
        if !batches.isEmpty { ready.insert(contentsOf: batches, at: 0) }
    }

    /// True if no delivery waits here.
    var isEmpty: Bool { ready.isEmpty && cutter?.count ?? 0 == 0 }

    /// When the next batch becomes complete by its age. Nil if no batch waits, or if the format does not batch.
    var due: Duration? { cutter?.due }

    /// Removes and returns all deliveries that were not sent. The lane gives them back to the queue when it pauses or
    /// ends.
    mutating func takeAll() -> [Lease] {
        defer { ready = [] }
        return ready.flatMap(\.self) + (cutter?.flush() ?? []).flatMap(\.self)
    }
}
