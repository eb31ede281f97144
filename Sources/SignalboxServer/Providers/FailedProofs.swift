import Logging
import Synchronization

/// Counts failed proofs of identity, and logs them: the first one of a network at once, later ones together, once a
/// minute.
///
/// A class because all requests share it.
final class FailedProofs: Sendable {
    private struct Count {
        var loggedAt: ContinuousClock.Instant
        var failures = 0
    }

    private struct Networks {
        /// By network: an IPv6 client has 2⁶⁴ addresses. Nil for all networks beyond ``mostNetworks``.
        var all: [PeerAddress?: Count] = [:]
        var sweptAt: ContinuousClock.Instant?

        /// The key that counts a network; nil when there are too many. Removes old counts to make room.
        mutating func key(of network: PeerAddress, at now: ContinuousClock.Instant) -> PeerAddress? {
            guard all[network] == nil, all.count >= FailedProofs.mostNetworks else { return network }
            if sweptAt.map({ now - $0 >= FailedProofs.sweepInterval }) ?? true {
                sweptAt = now
                all = all.filter { now - $0.value.loggedAt < FailedProofs.interval }
            }
            return all.count < FailedProofs.mostNetworks ? network : nil
        }
    }

    private static let interval: Duration = .seconds(60)
    /// Networks with a count of their own. When more fail within a minute, the log combines the others.
    private static let mostNetworks = 1_000
    /// Old counts are removed at most this often, because that visits all of them under the lock.
    private static let sweepInterval: Duration = .seconds(1)

    /// Since the start.
    let counts = Tally<FailedProof>()
    private let networks = Mutex(Networks())
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.logger = logger
        self.now = now
    }

    /// `connection`: of the client.
    func record(_ proof: FailedProof, from connection: ProviderConnection) {
        counts.count(proof)
        let now = now()
        let (isOther, failures) = networks.withLock { networks -> (Bool, Int) in
            let network = networks.key(of: connection.peer, at: now)
            guard var count = networks.all[network] else {
                networks.all[network] = Count(loggedAt: now)
                return (network == nil, 1)
            }
            count.failures += 1
            let isDue = now - count.loggedAt >= Self.interval
            networks.all[network] = isDue ? Count(loggedAt: now) : count
            return (network == nil, isDue ? count.failures : 0)
        }
        guard failures > 0 else { return }
        logger.warning(
            "Provider endpoint rejected a proof of identity.",
            metadata: [
                "address": "\(isOther ? "others" : connection.address)", "reason": "\(proof.reason)",
                "failures": "\(failures)",
            ])
    }
}
