import Logging
import Synchronization

/// Logs failed TLS handshakes: the first one of a network at once, later ones together, once a minute.
///
/// A class because all connections share it.
final class FailedHandshakes: Sendable {
    /// Used for the log only: failed handshakes are not slowed down.
    private let networks = Mutex(FailedNetworks())
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    /// `now`: the clock by which a minute of failures is measured.
    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.logger, self.now) = (logger, now)
    }

    /// Records a failure. The line has the reason of the newest one. `address`: of the client, for the line; `peer`:
    /// its network. A connection that a client ends without a reason is logged at level debug, because port
    /// checks end theirs in this way.
    func record(_ fault: HandshakeFault, from peer: PeerAddress, address: String) {
        guard !fault.isSilent else {
            return logger.debug(
                "TLS handshake not completed.", metadata: ["address": "\(address)", "reason": "\(fault.reason)"])
        }
        let verdict = networks.withLock { $0.count(peer, at: now()) }
        guard verdict.toLog > 0 else { return }
        logger.warning(
            "TLS handshake failed.",
            metadata: [
                "address": "\(verdict.isOther ? "others" : address)", "failures": "\(verdict.toLog)",
                "reason": "\(fault.reason)",
            ])
    }
}
