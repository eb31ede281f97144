package import Foundation

/// That a destination takes nothing for now, why, and since when. Its deliveries wait.
package struct DestinationState: Sendable, Equatable {
    package enum Word: String, Sendable, CaseIterable {
        /// By an operator.
        case paused
        /// By the destination itself, which is gone (410).
        case disabled
    }

    package let word: Word
    package let reason: String?
    package let since: Date

    package init(_ word: Word, reason: String? = nil, since: Date) {
        self.word = word
        self.reason = reason
        self.since = since
    }
}
