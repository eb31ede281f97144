package import Foundation
package import SignalboxNotification

/// A state in which a destination accepts nothing. Its deliveries wait.
package enum DestinationState: String, Sendable, CaseIterable {
    /// An operator paused it.
    case paused
    /// The destination answered 410 Gone.
    case disabled
}

/// A pause in sending to a destination. Its deliveries wait.
package struct DestinationBackoff: Sendable, Equatable {
    /// The causes of a backoff. Raw values are stored.
    package enum Kind: String, Sendable, CaseIterable {
        /// The circuit breaker is open: the destination failed too often in a row.
        case breakerOpen = "breaker-open"
        /// The destination asked for a pause with Retry-After.
        case retryAfter = "retry-after"
    }

    /// The cause of the pause.
    package let kind: Kind
    /// The failure or the answer that caused the pause, for people.
    package let reason: String
    /// When the pause began. An extension does not move it.
    package let since: Date
    /// When the next attempt may be made.
    package let until: Date

    /// Takes the times by the store's clock.
    package init(_ kind: Kind, reason: String, since: Date, until: Date) {
        (self.kind, self.reason, self.since, self.until) = (kind, reason, since, until)
    }
}

/// The reason why no delivery is sent to a destination, and its start.
package struct DestinationStatus: Sendable, Equatable {
    /// `paused`, `disabled`, `withheld`, `breaker_open` or `throttled` (the destination asked for a pause).
    package let word: String
    /// The reason for people: an operator's, or the destination's last answer.
    package let reason: String?
    /// When the status began.
    package let since: Date
    /// When the next attempt may be made, or when a pause ends, if known.
    package var until: Date?
    /// The reason that its waiting deliveries give.
    let wait: DeliveryWait.Reason

    /// All words; `active` is that of a destination without a status.
    package static let words = ["active", "paused", "disabled", "withheld", "breaker_open", "throttled"]

    /// Why nothing is sent, in one word for programs.
    package var cause: String {
        switch wait {
        case .breakerOpen: "breaker"
        case .noPermission: "permission"
        case .retryAfter: "retry_after"
        default: word
        }
    }

    /// Whether it is a pause by an operator.
    var isPause: Bool { wait == .paused }

    /// Whether the destination accepts no delivery. A destination that asks for a pause still accepts some.
    package var isDown: Bool { wait != .retryAfter }

    /// The status of every destination that has one. A pause or a 410 precedes a missing permission, which precedes a
    /// backoff. An open breaker counts until an attempt succeeds, a requested pause until it ends.
    package static func all(
        states: [DestinationName: DestinationStatus], withheld: [DestinationName: DestinationStatus],
        backoffs: [DestinationName: DestinationBackoff], at now: Date
    ) -> [DestinationName: DestinationStatus] {
        backoffs.filter { $1.kind == .breakerOpen || $1.until > now }.mapValues { DestinationStatus($0) }
            .merging(withheld) { $1 }.merging(states) { $1 }
    }
}

extension DestinationStatus {
    /// The status of a destination that is paused or disabled. `until`: when the gateway ends the pause.
    package init(_ state: DestinationState, reason: String? = nil, since: Date, until: Date? = nil) {
        self.init(
            word: state.rawValue, reason: reason, since: since, until: until,
            wait: state == .paused ? .paused : .disabled)
    }

    /// The destination requires permission and has not given it. `answer`: its last one.
    package init(withheld answer: String, since: Date) {
        self.init(word: "withheld", reason: answer, since: since, wait: .noPermission)
    }

    private init(_ backoff: DestinationBackoff) {
        let isOpen = backoff.kind == .breakerOpen
        self.init(
            word: isOpen ? "breaker_open" : "throttled", reason: backoff.reason, since: backoff.since,
            until: backoff.until, wait: isOpen ? .breakerOpen : .retryAfter)
    }
}
