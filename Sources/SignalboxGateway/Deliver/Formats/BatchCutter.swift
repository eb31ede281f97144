package import SignalboxConfig
package import SignalboxStore

/// Decides which deliveries go into one request. Pure: the time comes in, counted from any
/// start, the batches come out.
///
/// A batch holds deliveries that were attempted equally often, so that its attempt has a number, and so that what failed
/// together stays together.
package struct BatchCutter: Sendable {
    private struct Open {
        var leases: [Lease]
        var bytes: Int
        let due: Duration
    }

    private let limits: Destination.Batch
    private var open: [Int: Open] = [:]

    package init(_ limits: Destination.Batch) { self.limits = limits }

    /// Deliveries that wait.
    package var count: Int { open.values.reduce(0) { $0 + $1.leases.count } }

    /// When ``cut(at:)`` has something to give, if nothing is added until then; nil while nothing waits.
    package var due: Duration? { open.values.map(\.due).min() }

    /// Takes a delivery in and gives the batches that are complete by it: none, one, or two when a large event pushes out
    /// what waited and goes alone.
    package mutating func add(_ lease: Lease, at now: Duration) -> [[Lease]] {
        var complete: [[Lease]] = []
        if let batch = open[lease.attempts], batch.bytes + lease.body.count > limits.bytes {
            complete.append(batch.leases)
            open[lease.attempts] = nil
        }
        var batch = open.removeValue(forKey: lease.attempts) ?? Open(leases: [], bytes: 0, due: now + limits.age)
        batch.leases.append(lease)
        batch.bytes += lease.body.count
        if batch.leases.count >= limits.count || batch.bytes >= limits.bytes {
            complete.append(batch.leases)
        } else {
            open[lease.attempts] = batch
        }
        return complete
    }

    /// The batches whose first delivery has waited long enough, the oldest first.
    package mutating func cut(at now: Duration) -> [[Lease]] {
        take { $0.due <= now }
    }

    /// Everything that waits, as when the lane is drained.
    package mutating func flush() -> [[Lease]] { take { _ in true } }

    private mutating func take(_ isReady: (Open) -> Bool) -> [[Lease]] {
        let ready = open.filter { isReady($0.value) }.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
        for (attempts, _) in ready { open[attempts] = nil }
        return ready.map(\.value.leases)
    }
}
