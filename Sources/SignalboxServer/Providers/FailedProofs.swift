import Logging
import Synchronization

/// Counts failed proofs of identity, and logs them: the first one of an address at once, later ones together, once a
/// minute.
///
/// A class because all requests share it.
final class FailedProofs: Sendable {
    private struct Count {
        var loggedAt: ContinuousClock.Instant
        var failures = 0
    }

    private static let interval: Duration = .seconds(60)
    /// Addresses with a count of their own. When more fail within a minute, the log combines the others.
    private static let mostAddresses = 1_000

    /// Since the start.
    let counts = Tally<FailedProof>()
    private let addresses = Mutex<[String: Count]>([:])
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.logger = logger
        self.now = now
    }

    /// `address`: of the client; empty when it has none.
    func record(_ proof: FailedProof, from address: String) {
        counts.count(proof)
        let now = now()
        let (name, failures) = addresses.withLock { counts -> (String, Int) in
            if counts[address] == nil, counts.count >= Self.mostAddresses {
                counts = counts.filter { now - $0.value.loggedAt < Self.interval }
            }
            let name = counts[address] == nil && counts.count >= Self.mostAddresses ? "others" : address
            guard var count = counts[name] else {
                counts[name] = Count(loggedAt: now)
                return (name, 1)
            }
            count.failures += 1
            let isDue = now - count.loggedAt >= Self.interval
            counts[name] = isDue ? Count(loggedAt: now) : count
            return (name, isDue ? count.failures : 0)
        }
        guard failures > 0 else { return }
        logger.warning(
            "Provider endpoint rejected a proof of identity.",
            metadata: ["address": "\(name)", "reason": "\(proof.reason)", "failures": "\(failures)"])
    }
}
