package import Foundation

/// A pause in sending to a destination: why, and until when. Its deliveries wait.
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
        self.kind = kind
        self.reason = reason
        self.since = since
        self.until = until
    }
}
