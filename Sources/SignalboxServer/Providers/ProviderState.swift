import Logging

/// The state that provider endpoints keep between requests, for all configs of the process.
final class ProviderState: Sendable {
    // A class because the endpoints of all configs share it: a reload must not end the sessions of senders.
    /// Access tokens of service accounts.
    let accessTokens = AccessTokenTable()
    /// Subscriptions of registrations to topics.
    let topics = TopicSubscriptions()
    /// Counts the connections and requests of sources.
    let usage = SourceUsage()
    /// Memory of decompressed bodies.
    let contents = ContentMemory()
    /// Rejected credentials.
    let failures: FailedProofs

    init(logger: Logger) { failures = FailedProofs(logger: logger) }
}
