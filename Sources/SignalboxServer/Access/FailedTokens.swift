import Logging
import SignalboxStore
import Synchronization

/// Counts requests with a wrong token, logs them once a minute, and delays the answers to a network whose requests fail
/// often.
///
/// A class because the APIs of all configs share it.
final class FailedTokens: Sendable {
    /// The kind of endpoint. Raw values are labels of the metric.
    enum Endpoint: String, CaseIterable, Sendable {
        /// For senders: the token of a source.
        case source
        /// For operators.
        case `operator`
    }

    private struct State {
        /// Decides which answers are late. Sources and operators share the counts of a network.
        var networks = FailedNetworks()
        /// Failures that no log line has reported.
        var unreported = 0
        /// The time of the last log line; nil before the first.
        var loggedAt: ContinuousClock.Instant?
    }

    /// Since the start.
    private let counts = Tally<Endpoint>()
    private let state = Mutex(State())
    private let logger: Logger
    private let delayed: DelayedCall
    private let now: @Sendable () -> ContinuousClock.Instant

    /// `delayed`, `now`: tests replace both.
    init(
        logger: Logger, delayed: DelayedCall = .onQueue,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) { (self.logger, self.delayed, self.now) = (logger, delayed, now) }

    /// The counts since the start.
    var values: [Endpoint: Int] { Dictionary(uniqueKeysWithValues: Endpoint.allCases.map { ($0, counts[$0]) }) }

    /// Records a failure. Returns when it may be answered. The log line has the address of the last client and no part
    /// of a token. A valid token is never delayed, because the caller compares tokens first.
    func record(at endpoint: Endpoint, from peer: PeerAddress, address: String) async {
        counts.count(endpoint)
        let now = now()
        let (isDelayed, report) = state.withLock { state -> (Bool, Int) in
            state.unreported += 1
            let isDue = state.loggedAt.map { now - $0 >= FailedNetworks.interval } ?? true
            let report = isDue ? state.unreported : 0
            if isDue { (state.unreported, state.loggedAt) = (0, now) }
            return (state.networks.count(peer, at: now).isSlowed, report)
        }
        if report > 0 {
            logger.warning(
                "Wrong token rejected.",
                metadata: ["endpoint": "\(endpoint.rawValue)", "remote": "\(address)", "failures": "\(report)"])
        }
        guard isDelayed else { return }
        await withCheckedContinuation { continuation in delayed(after: FailedNetworks.delay) { continuation.resume() } }
    }
}
