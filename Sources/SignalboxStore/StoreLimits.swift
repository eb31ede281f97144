/// Times and counts that every store keeps to and its callers rely on.
package enum StoreLimits {
    /// How long a request waits for its commit. Longer than a store waits for a lock of another process, because that
    /// wait ends with a definite answer.
    package static let patience: Duration = .seconds(15)
    /// The most deliveries that the events of one request may have together. Their commit takes seconds.
    package static let deliveriesOfRequest = 100_000
    /// The most deliveries of several appends in one commit. A larger commit would take so long that later appends time
    /// out.
    package static let deliveriesOfCommit = 20_000
    /// A claim ends with the delivery that reaches this number of bytes of events and payloads. A lane claims again
    /// while it has places left.
    package static let bytesOfClaim = 16 << 20
    /// How long a commit may take before the store counts as not writable.
    package static let longestCommit: Duration = .seconds(5)
    /// Claims in a row that may be answered from memory while the store cannot be read.
    package static let longestRunFromMemory = HandOff.freshClaims
    /// How long a request with an `Idempotency-Key` is remembered if there is room.
    package static let requestMemory: Duration = .seconds(24 * 3600)
    /// The shortest time that it is remembered, even without room: senders retry within minutes.
    package static let shortestRequestMemory: Duration = .seconds(3600)
    /// How long the keys of `dedupe` are remembered; no window is longer.
    package static let longestDedupe: Duration = .seconds(7 * 86_400)
    /// How long the failure of a download is kept.
    package static let failureMemory: Duration = .seconds(86_400)
    /// For how long a failed download is not requested again, in milliseconds. Many events of a campaign name the same
    /// broken URL.
    package static let failurePause: Int64 = 60_000
    /// Characters of the longest explanation of a failed download that is stored.
    package static let longestWords = 1000
    /// The times of the last use of a file and of a category are updated at most this often, in milliseconds.
    package static let usedEvery: Int64 = 3_600_000
    /// How long after the end of its wait a held delivery is sent unchanged, if it was not released. In milliseconds.
    /// The fallback for processes that stop between the end of the wait and the release.
    package static let releaseGrace: Int64 = 60_000
    /// The most actions that are kept.
    package static let actions = 100_000
    /// The most rows that a page of a list examines, so that a filter without matches is answered in time.
    package static let scannedRows = 50_000
    /// How long a page of a list examines rows.
    package static let longestScan: Duration = .milliseconds(200)
    /// The most in-app messages addressed to one device, and to one user, that a decision reads.
    package static let addressedMessages = 100
    /// The most bytes of such messages, of one device and of one user: a decision reads the newest ones.
    package static let addressedBytes = 1 << 20
}
