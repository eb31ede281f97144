/// Times and counts that every store keeps to and its callers rely on.
package enum StoreLimits {
    /// How long a request waits for its commit. Longer than SQLite waits for the lock of another process, because that
    /// wait ends with a definite answer.
    package static let patience: Duration = .seconds(15)
    /// How long a commit may take before the queue counts as not writable.
    package static let longestCommit: Duration = .seconds(5)
    /// Claims in a row that may come from memory although the file should be read.
    package static let longestRunFromMemory = HandOff.freshClaims
    /// How long a request with an `Idempotency-Key` is remembered where there is room.
    package static let requestMemory: Duration = .seconds(24 * 3600)
    /// How long it is remembered at least: senders try again within minutes.
    package static let shortestRequestMemory: Duration = .seconds(3600)
    /// How long what `dedupe` compares is remembered; no window is longer.
    package static let longestDedupe: Duration = .seconds(7 * 86_400)
}
