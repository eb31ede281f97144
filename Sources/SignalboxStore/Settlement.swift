package import Foundation
package import SignalboxNotification

/// The outcome of a lease. Waits are durations, because the store's own clock decides when they are over.
package enum Outcome: Sendable, Equatable {
    case delivered(status: Int)
    /// The next attempt is due after this time.
    case retry(after: Duration, status: Int?, reason: String)
    case dead(status: Int?, reason: String)
    /// The delivery expired before an attempt was made.
    case expired
    /// No attempt could be made, for a local reason. Counts no attempt. Without a wait, the delivery stays due as it
    /// was, so that its lateness grows.
    case postponed(for: Duration, reason: String)
    /// The attempt was not made, or a stop cut it short: the delivery is due as if it had not been leased.
    case returned

    /// Whether the delivery stays due as if it had not been leased.
    package var keepsDue: Bool {
        switch self {
        case .returned: true
        case .postponed(let wait, _): wait == .zero
        case .delivered, .retry, .dead, .expired: false
        }
    }
}

/// One request to a destination, for the record of attempts.
package struct Attempt: Sendable, Equatable {
    /// When the request began, by the wall clock.
    package var startedAt: Date
    /// The time from the beginning of the request to its end.
    package var duration: Duration
    /// A short stable word for a failure without a reply, such as `dns` or `refused`.
    package var error: String?
    /// The address and port that were connected to.
    package var remote: String?
    /// At most the first kilobyte of the reply's body.
    package var excerpt: [UInt8]
    /// Request and response without secrets and content, as a JSON object with the members `request` and `response`;
    /// nil for an attempt that delivered.
    package var exchange: [UInt8]?

    /// Takes the facts of one request; the number of the attempt comes from the lease.
    package init(
        startedAt: Date, duration: Duration, error: String? = nil, remote: String? = nil, excerpt: [UInt8] = []
    ) {
        (self.startedAt, self.duration) = (startedAt, duration)
        (self.error, self.remote, self.excerpt) = (error, remote, excerpt)
    }
}

/// The end of an attempt, with everything that follows from it: written together or not at all.
package struct Settlement: Sendable {
    /// The lease that the settlement ends.
    package let lease: Lease
    /// The next state of the delivery.
    package let outcome: Outcome
    /// Nil when no request was made.
    package var attempt: Attempt?
    /// The reason to disable the destination; nil leaves its state unchanged.
    package var disabling: String?
    /// An event about this end.
    package var successor: RoutedEvent?

    /// `attempt`: nil when no request was made. `successor`: appended in the same commit.
    package init(
        _ lease: Lease, _ outcome: Outcome, attempt: Attempt? = nil, disabling: String? = nil,
        successor: RoutedEvent? = nil
    ) {
        (self.lease, self.outcome, self.attempt) = (lease, outcome, attempt)
        (self.disabling, self.successor) = (disabling, successor)
    }
}

/// The result of a settlement.
package enum SettlementResult: Sendable, Equatable {
    case recorded
    /// The lease was no longer held, so nothing was written. Another process may have delivered the event since.
    case lost
}
