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
