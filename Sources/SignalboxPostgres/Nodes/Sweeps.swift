import Synchronization

/// The leases that a sweep found unknown at its first look, with their numbers. A class because ticks share it.
final class Sweeps: Sendable {
    /// The shortest time between the two looks.
    private static let pause: Duration = .seconds(1)

    private let found = Mutex<(leases: [Int64: Int64], at: ContinuousClock.Instant)?>(nil)

    /// Remembers the unknown leases of a first look.
    func begin(_ unknown: [Int64: Int64], at now: ContinuousClock.Instant) {
        found.withLock { $0 = unknown.isEmpty ? nil : (unknown, now) }
    }

    /// The leases of the first look, once the second one is due; nil otherwise, and for a new request, which begins
    /// again.
    func due(_ isRequested: Bool, at now: ContinuousClock.Instant) -> [Int64: Int64]? {
        found.withLock { found in
            guard !isRequested, let first = found, now - first.at >= Self.pause else { return nil }
            found = nil
            return first.leases
        }
    }
}
