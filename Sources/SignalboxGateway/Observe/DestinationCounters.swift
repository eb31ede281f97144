import SignalboxEgress
package import SignalboxStore

/// Counts the attempts of one destination since the start of the process.
package final class DestinationCounters: Sendable {
    // A class because the lane and the metrics share it.
    /// The outcome of an attempt for one delivery. Raw values are labels.
    package enum Outcome: Int, CaseIterable, Sendable {
        case delivered, retry, dead
        /// No request could be made, or a stop cut it short; the attempt does not count.
        case postponed

        package var label: String { ["delivered", "retry", "dead", "postponed"][rawValue] }

        fileprivate init?(_ outcome: SignalboxStore.Outcome) {
            switch outcome {
            case .delivered: self = .delivered
            case .retry: self = .retry
            case .dead: self = .dead
            case .postponed, .returned: self = .postponed
            case .expired: return nil
            }
        }
    }

    /// The values of the label `error`: `none` for a success, the class of another status, or the word of
    /// ``TransportError/code``.
    package static let errors =
        ["none", "status-1xx", "status-3xx", "status-4xx", "status-5xx"] + TransportError.codes + [
            GatewayCounters.other
        ]

    /// Deliveries of attempts in progress.
    package let inFlight = Counter()
    /// Of requests; a request may have several deliveries.
    package let durations = Histogram(.request)
    /// From the time at which a delivery could be sent first, to its success.
    package let lags = Histogram(.lag)
    /// By outcome, then by error.
    private let attempts = (0..<Outcome.allCases.count * DestinationCounters.errors.count).map { _ in Counter() }

    package init() {}

    /// Counts one delivery of an attempt. Expired deliveries had none.
    func attempted(_ settlement: Settlement) {
        guard let outcome = Outcome(settlement.outcome) else { return }
        attempts[outcome.rawValue * Self.errors.count + Self.error(of: settlement)].add()
    }

    /// The position in ``errors``.
    private static func error(of settlement: Settlement) -> Int {
        switch settlement.outcome {
        case .delivered: 0
        case .retry(_, let status?, _), .dead(let status?, _): statusClass(status)
        case .retry, .dead, .postponed, .returned, .expired:
            settlement.attempt?.error.flatMap { errors.firstIndex(of: $0) } ?? errors.count - 1
        }
    }

    private static func statusClass(_ status: Int) -> Int {
        switch status {
        case ..<200: 1
        case ..<400: 2
        case ..<500: 3
        default: 4
        }
    }

    /// The attempts of each combination that can occur, 0 included.
    package var values: [(outcome: Outcome, error: String, count: Int)] {
        Outcome.allCases.flatMap { outcome in
            Self.errors.enumerated().compactMap { position, error in
                let count = attempts[outcome.rawValue * Self.errors.count + position].value
                return count > 0 || outcome.expects(error) ? (outcome, error, count) : nil
            }
        }
    }
}

extension DestinationCounters.Outcome {
    /// Whether the combination is shown before it occurs.
    fileprivate func expects(_ error: String) -> Bool {
        switch self {
        case .delivered: error == "none"
        case .retry:
            ["status-4xx", "status-5xx", "dns", "refused", "tls", "timeout-connect", "timeout-reply", "reset"]
                .contains(error)
        case .dead: ["status-3xx", "status-4xx", "status-5xx", "denied", "refused", "timeout-reply"].contains(error)
        case .postponed: error == "exhausted" || error == "stopped"
        }
    }
}
