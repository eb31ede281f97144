package import SignalboxNotification

/// A request that its sender may repeat, not knowing whether it was accepted: repeats with the same key get the first
/// answer again, and their events are not accepted twice. The store remembers it for ``StoreLimits/requestMemory``,
/// if there is room.
/// Source: draft-ietf-httpapi-idempotency-key-header-07
package struct IdempotentRequest: Sendable {
    /// The source that sent the request. Keys of different sources are independent.
    package let source: SourceName
    /// The sender's `Idempotency-Key`.
    package let key: String
    /// The digest of the body: the same key must not be used with another body.
    package let digest: [UInt8]
    /// Makes the answer to store from the ids of the earlier events that some of its events repeat, by position.
    package let answer: @Sendable (_ duplicates: [Int: String]) -> StoredAnswer

    /// `answer` is called in the commit that stores the events. It must not block.
    package init(
        from source: SourceName, key: String, digest: [UInt8],
        answer: @escaping @Sendable (_ duplicates: [Int: String]) -> StoredAnswer
    ) { (self.source, self.key, self.digest, self.answer) = (source, key, digest, answer) }
}

/// The response to a request.
package struct StoredAnswer: Sendable, Equatable {
    /// The HTTP status.
    package let status: Int
    /// The body, byte for byte.
    package let body: [UInt8]

    /// Takes the response as it was sent.
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
