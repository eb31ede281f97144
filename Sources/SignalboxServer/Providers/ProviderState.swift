import Logging
import SignalboxGateway

/// The state that provider endpoints keep between requests, for all configs of the process.
final class ProviderState: Sendable {
    // A class because the endpoints of all configs share it: a reload must not end the sessions of senders.
    /// Access tokens that Google issued.
    let bearerProofs = BearerProofs()
    /// Subscriptions of registrations to topics.
    let topics = TopicSubscriptions()
    /// Counts the connections and requests of sources.
    let usage = SourceUsage()
    /// Connections that were refused.
    let refusals = Tally<RefusedConnection>()
    /// The newest pushes.
    let captures = CaptureLog()
    /// Answers that failure rules delay.
    let held = HeldReplies()
    /// Memory of decompressed bodies.
    let contents = ContentMemory()
    /// Rejected credentials.
    let failures: FailedProofs

    /// Failed TLS handshakes.
    let handshakes: FailedHandshakes

    /// `logger`: for rejected credentials and failed handshakes, whose first failures are logged at once.
    init(logger: Logger) {
        failures = FailedProofs(logger: logger)
        handshakes = FailedHandshakes(logger: logger)
    }
}
