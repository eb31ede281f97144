package import SignalboxNotification

/// A request that its sender may repeat, not knowing whether it was accepted: repeats with the same key get the first
/// answer again, and their events are not accepted twice. Counts for ``StoreLimits/requestMemory``.
/// Source: draft-ietf-httpapi-idempotency-key-header-07
package struct IdempotentRequest: Sendable {
    package let source: SourceName
    package let key: String
    /// The digest of the body: the same key must not be used with another body.
    package let digest: [UInt8]
    /// Makes the answer to store from the ids of the earlier events that some of its events repeat, by position.
    package let answer: @Sendable (_ duplicates: [Int: String]) -> StoredAnswer

    package init(
        from source: SourceName, key: String, digest: [UInt8],
        answer: @escaping @Sendable (_ duplicates: [Int: String]) -> StoredAnswer
    ) {
        (self.source, self.key, self.digest, self.answer) = (source, key, digest, answer)
    }
}

/// The response to a request.
package struct StoredAnswer: Sendable, Equatable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
}

/// The result of an append.
package enum AppendResult: Sendable, Equatable {
    /// All are durable, except those that repeat an earlier event: its id, by position.
    case appended(duplicates: [Int: String])
    /// The request was accepted before. No event was written.
    case repeated(StoredAnswer)
    /// The key was used for another request. No event was written.
    case conflicting
}

/// Times and counts that every store keeps to and its callers rely on.
package enum StoreLimits {
    /// How long a request waits for its commit. Longer than a store waits for a lock of another process, because that
    /// wait ends with a definite answer.
    package static let patience: Duration = .seconds(15)
    /// How long a commit may take before the store counts as not writable.
    package static let longestCommit: Duration = .seconds(5)
    /// Claims in a row that may be answered from memory while the store cannot be read.
    package static let longestRunFromMemory = HandOff.freshClaims
    /// How long a request with an `Idempotency-Key` is remembered if there is room.
    package static let requestMemory: Duration = .seconds(24 * 3600)
    /// How long it is remembered at least: senders retry within minutes.
    package static let shortestRequestMemory: Duration = .seconds(3600)
    /// How long the keys of `dedupe` are remembered; no window is longer.
    package static let longestDedupe: Duration = .seconds(7 * 86_400)
}
