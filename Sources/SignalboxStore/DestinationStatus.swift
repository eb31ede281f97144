package import Foundation

/// That a destination was asked whether it may be sent to and has not said yes, and since when. Its deliveries wait.
package struct WithheldPermission: Sendable, Equatable {
    /// Of the last time that it was asked.
    package let reason: String
    package let since: Date

    package init(reason: String, since: Date) {
        self.reason = reason
        self.since = since
    }
}

/// What keeps the deliveries to a destination waiting, and since when.
package struct DestinationStatus: Sendable, Equatable {
    /// `paused`, `disabled`, `withheld`, `failing` (the circuit breaker is open) or `throttled` (the destination asked for
    /// a pause).
    package let word: String
    package let reason: String?
    package let since: Date
    /// When the next attempt may be made, if known.
    package var until: Date?
    /// The reason that its waiting deliveries give.
    let wait: DeliveryWait.Reason

    /// All states; `active` stands for no status.
    package static let words = ["active", "paused", "disabled", "withheld", "failing", "throttled"]

    /// Whether the destination accepts nothing. One that asks for a pause still accepts deliveries.
    package var isDown: Bool { wait != .retryAfter }
}

extension DestinationStatus {
    package init(_ state: DestinationState) {
        self.init(
            word: state.word.rawValue, reason: state.reason, since: state.since,
            wait: state.word == .paused ? .paused : .disabled)
    }

    package init(_ permission: WithheldPermission) {
        self.init(word: "withheld", reason: permission.reason, since: permission.since, wait: .noPermission)
    }

    package init(_ backoff: DestinationBackoff) {
        let isOpen = backoff.kind == .breakerOpen
        self.init(
            word: isOpen ? "failing" : "throttled", reason: backoff.reason, since: backoff.since,
            until: backoff.until, wait: isOpen ? .breakerOpen : .retryAfter)
    }
}
