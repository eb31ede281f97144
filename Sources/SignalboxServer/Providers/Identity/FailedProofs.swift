import Logging
import Synchronization

/// Counts failed proofs of identity, and logs them: the first one of a network at once, later ones together, once a
/// minute. Slows down a network that sends many of them; its valid proofs are not affected.
///
/// A class because all requests share it.
final class FailedProofs: Sendable {
    /// Since the start.
    let counts = Tally<FailedProof>()
    /// Answers that were held, since the start.
    var slowed: Int { slowedCount.load(ordering: .relaxed) }
    private let slowedCount = Atomic(0)
    /// Decides which failures are logged, and which answers are held.
    private let networks = Mutex(FailedNetworks())
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    /// One for the process: a reload must not reset the counts of an attack.
    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.logger, self.now) = (logger, now)
    }

    /// Returns how long to hold the answer; nil to send it at once. Networks beyond the bound are never slowed down,
    /// because they share a count. `connection`: of the client. `detail`: the fault, for the log; read only if this
    /// proof is logged.
    @discardableResult
    func record(
        _ proof: FailedProof, from connection: ProviderConnection, detail: @autoclosure () -> String? = nil
    ) -> Duration? {
        counts.count(proof)
        let result = networks.withLock { $0.count(connection.peer, at: now()) }
        if result.toLog > 0 {
            var metadata: Logger.Metadata = [
                "address": "\(result.isOther ? "others" : connection.address)", "reason": "\(proof.reason)",
                "failures": "\(result.toLog)",
            ]
            if let detail = detail() { metadata["detail"] = "\(detail)" }
            logger.warning("Provider endpoint rejected a proof of identity.", metadata: metadata)
        }
        guard result.isSlowed else { return nil }
        slowedCount.add(1, ordering: .relaxed)
        return FailedNetworks.delay
    }
}
