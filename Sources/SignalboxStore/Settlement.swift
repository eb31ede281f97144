package import Foundation
package import SignalboxNotification

/// How an attempt ended.
package enum Outcome: Sendable, Equatable {
    case delivered(status: Int)
    case retry(at: Date, status: Int?, reason: String)
    case dead(status: Int?, reason: String)
    /// Its time was over before an attempt was made.
    case expired
    /// No attempt could be made, for a reason of our own: it costs none of the budget.
    case postponed(until: Date, reason: String)
    /// The attempt was not made, or cut short by our own stop: the lease goes back as if it had not been taken.
    case returned
}

/// One request to a destination, as the log of attempts keeps it.
package struct Attempt: Sendable, Equatable {
    package var startedAt: Date
    package var duration: Duration
    /// A short stable word for what went wrong where there was no answer, such as `dns` or `refused`.
    package var error: String?
    /// Address and port that were connected to.
    package var remote: String?
    /// At most the first kilobyte of the reply's body.
    package var excerpt: [UInt8]

    package init(
        startedAt: Date, duration: Duration, error: String? = nil, remote: String? = nil, excerpt: [UInt8] = []
    ) {
        self.startedAt = startedAt
        self.duration = duration
        self.error = error
        self.remote = remote
        self.excerpt = excerpt
    }
}

/// The end of an attempt, with all that follows from it: written together or not at all.
package struct Settlement: Sendable {
    package let lease: Lease
    package let outcome: Outcome
    /// Nil where no request was made.
    package var attempt: Attempt?
    /// Why the destination takes nothing any more; nil leaves its state as it is.
    package var disabling: String?
    /// An event about this end.
    package var successor: RoutedEvent?

    package init(
        _ lease: Lease, _ outcome: Outcome, attempt: Attempt? = nil, disabling: String? = nil,
        successor: RoutedEvent? = nil
    ) {
        self.lease = lease
        self.outcome = outcome
        self.attempt = attempt
        self.disabling = disabling
        self.successor = successor
    }
}
