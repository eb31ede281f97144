package import Foundation
package import SignalboxConfig
package import SignalboxStore

/// Groups deliveries into batches. Pure: the caller passes the time, measured from any start.
///
/// The deliveries of a batch were attempted equally often: its attempt has one number, and deliveries that failed
/// together stay together.
package struct BatchCutter: Sendable {
    /// A batch that still accepts deliveries. `due` is the time at which its age completes it.
    private struct Open {
        /// In the order in which they were added.
        var leases: [Lease]
        /// The sum of all bodies.
        var bytes: Int
        let due: Duration
    }

    private let limits: Destination.Batch
    /// Waiting batches by the number of attempts of their deliveries.
    private var open: [Int: Open] = [:]

    /// `limits`: deliveries, bytes and age at which a batch is complete. No batch waits at first. A batch begins with
    /// its first delivery, which also starts its age.
    package init(_ limits: Destination.Batch) { self.limits = limits }

    /// Number of waiting deliveries.
    package var count: Int { open.values.reduce(0) { $0 + $1.leases.count } }

    /// When ``cut(at:)`` returns a batch, if no delivery is added before; nil if no delivery waits.
    package var due: Duration? { open.values.map(\.due).min() }

    /// Appends a delivery and returns the batches that it completes: none, one, or two if a large event closes the
    /// waiting batch and is a batch by itself. A batch never exceeds the limit of deliveries, and exceeds the limit
    /// of bytes only if one event does so by itself. A delivery that would expire before its batch is due completes
    /// the batch. `wallClock`: the time that expiries are compared with, at `now`.
    package mutating func add(_ lease: Lease, at now: Duration, wallClock: Date) -> [[Lease]] {
        var complete: [[Lease]] = []
        if let batch = open[lease.attempts], batch.bytes + lease.body.count > limits.bytes {
            complete.append(batch.leases)
            open[lease.attempts] = nil
        }
        var batch = open.removeValue(forKey: lease.attempts) ?? Open(leases: [], bytes: 0, due: now + limits.age)
        batch.leases.append(lease)
        batch.bytes += lease.body.count
        let wait = TimeInterval((batch.due - now) / .seconds(1))
        let expires = lease.notAfter?.hasPassed(at: wallClock.addingTimeInterval(wait), attempts: 0) ?? false
        if expires || batch.leases.count >= limits.count || batch.bytes >= limits.bytes {
            complete.append(batch.leases)
        } else {
            open[lease.attempts] = batch
        }
        return complete
    }

    /// The batches that have reached their age, the oldest first. Call it at ``due`` at the latest; batches of
    /// different attempts come out as separate batches.
    package mutating func cut(at now: Duration) -> [[Lease]] { take { $0.due <= now } }

    /// All waiting batches, for a lane that is drained. The order is the same as in ``cut(at:)``. Afterwards
    /// ``count`` is zero.
    package mutating func flush() -> [[Lease]] { take { _ in true } }

    /// Removes the batches for which `isReady` holds and returns their deliveries, the earliest due batch first.
    private mutating func take(_ isReady: (Open) -> Bool) -> [[Lease]] {
        let ready = open.filter { isReady($0.value) }.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
        for (attempts, _) in ready { open[attempts] = nil }
        return ready.map(\.value.leases)
    }
}
