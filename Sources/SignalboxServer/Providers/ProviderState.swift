import Logging

/// The memory of provider endpoints between requests, for all configs of the process.
final class ProviderState: Sendable {
    // A class because the endpoints of all configs share it: a reload must not end the sessions of senders.
    /// Rejected credentials.
    let failures: FailedProofs
    /// The use of the endpoints by each source.
    let usage = SourceUsage()

    init(logger: Logger) { failures = FailedProofs(logger: logger) }
}
