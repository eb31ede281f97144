package import Foundation
package import SignalboxNotification

/// A state in which a destination accepts nothing. Its deliveries wait.
package struct DestinationState: Sendable, Equatable {
    package enum Word: String, Sendable, CaseIterable {
        /// An operator paused it.
        case paused
        /// It answered 410 Gone.
        case disabled
    }

    package let word: Word
    package let reason: String?
    package let since: Date

    package init(_ word: Word, reason: String? = nil, since: Date) {
        (self.word, self.reason, self.since) = (word, reason, since)
    }
}

/// A destination requires permission and has not given it. Its deliveries wait.
package struct WithheldPermission: Sendable, Equatable {
    /// Its last answer.
    package let reason: String
    package let since: Date

    package init(reason: String, since: Date) { (self.reason, self.since) = (reason, since) }
}

/// A pause in sending to a destination. Its deliveries wait.
package struct DestinationBackoff: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The circuit breaker is open: the destination failed too often in a row.
        case breakerOpen = "breaker-open"
        /// The destination asked for a pause with Retry-After.
        case retryAfter = "retry-after"
    }

    package let kind: Kind
    package let reason: String
    package let since: Date
    /// When the next attempt may be made.
    package let until: Date

    package init(_ kind: Kind, reason: String, since: Date, until: Date) {
        (self.kind, self.reason, self.since, self.until) = (kind, reason, since, until)
    }
}

/// Why nothing is sent to a destination, and since when.
package struct DestinationStatus: Sendable, Equatable {
    /// `paused`, `disabled`, `withheld`, `failing` (the circuit breaker is open) or `throttled` (the destination asked
    /// for a pause).
    package let word: String
    package let reason: String?
    package let since: Date
    /// When the next attempt may be made, if known.
    package var until: Date?
    /// The reason that its waiting deliveries give.
    let wait: DeliveryWait.Reason

    /// All words; `active` is that of a destination without a status.
    package static let words = ["active", "paused", "disabled", "withheld", "failing", "throttled"]

    /// Whether the destination accepts nothing. One that asks for a pause still accepts deliveries.
    package var isDown: Bool { wait != .retryAfter }

    /// The status of every destination that has one. A pause or a 410 precedes a missing permission, which precedes a
    /// backoff. An open breaker counts until an attempt succeeds, a requested pause until it ends.
    package static func all(
        states: [DestinationName: DestinationState], withheld: [DestinationName: WithheldPermission],
        backoffs: [DestinationName: DestinationBackoff], at now: Date
    ) -> [DestinationName: DestinationStatus] {
        backoffs.filter { $1.kind == .breakerOpen || $1.until > now }.mapValues { DestinationStatus($0) }
            .merging(withheld.mapValues { DestinationStatus($0) }) { $1 }
            .merging(states.mapValues { DestinationStatus($0) }) { $1 }
    }
}

extension DestinationStatus {
    private init(_ state: DestinationState) {
        self.init(
            word: state.word.rawValue, reason: state.reason, since: state.since,
            wait: state.word == .paused ? .paused : .disabled)
    }

    private init(_ permission: WithheldPermission) {
        self.init(word: "withheld", reason: permission.reason, since: permission.since, wait: .noPermission)
    }

    private init(_ backoff: DestinationBackoff) {
        let isOpen = backoff.kind == .breakerOpen
        self.init(
            word: isOpen ? "failing" : "throttled", reason: backoff.reason, since: backoff.since,
            until: backoff.until, wait: isOpen ? .breakerOpen : .retryAfter)
    }
}
