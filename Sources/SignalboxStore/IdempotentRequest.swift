package import Foundation
package import SignalboxNotification

/// A request that its sender may repeat, not knowing whether it was taken: repeats with the same key get the first
/// answer again, and nothing is taken twice.
/// Source: draft-ietf-httpapi-idempotency-key-header-07
package struct IdempotentRequest: Sendable {
    package let source: SourceName
    package let key: String
    /// Of the body: the same key with another body is a mistake.
    package let digest: [UInt8]
    /// Older requests do not count.
    package let since: Date
    /// Makes the answer that is kept, from the ids of the events that some of those handed in repeat.
    package let answer: @Sendable (_ duplicates: [Int: String]) -> StoredAnswer

    package init(
        from source: SourceName, key: String, digest: [UInt8], since: Date,
        answer: @escaping @Sendable (_ duplicates: [Int: String]) -> StoredAnswer
    ) {
        self.source = source
        self.key = key
        self.digest = digest
        self.since = since
        self.answer = answer
    }
}

/// An answer as the sender of a request gets it.
package struct StoredAnswer: Sendable, Equatable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// What became of events that were handed to the queue.
package enum AppendResult: Sendable, Equatable {
    /// All are durable, but for those that repeat an earlier one: by position, the earlier one's id.
    case appended(duplicates: [Int: String])
    /// The request was taken before; nothing was taken now.
    case repeated(StoredAnswer)
    /// The key was used for another request; nothing was taken.
    case conflicting
}
