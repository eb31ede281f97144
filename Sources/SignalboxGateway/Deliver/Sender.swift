import SignalboxEgress
package import SignalboxStore

/// Sends the events of a lane.
package protocol Sender: Sendable {
    /// Makes one attempt with these deliveries in one request: one delivery, unless the destination's format batches.
    /// Failures are part of the result.
    func send(_ leases: [Lease]) async -> SendResult

    /// Requests the destination's permission.
    func askPermission() async -> Permission
}

extension Sender {
    /// For destinations that need no permission.
    package func askPermission() async -> Permission { .given(perMinute: nil) }

    /// Sends a test event without the queue, after requesting permission if the destination needs it.
    package func ping(_ lease: Lease) async -> PingResult {
        switch await askPermission() {
        case .given: PingResult(await send([lease]))
        case .withheld(let reason, _): PingResult(withheld: reason)
        case .unknown: PingResult(withheld: TransportError.stopped.description)
        }
    }
}

/// The answer to an attempt, and its record in the log of attempts.
package struct SendResult: Sendable {
    /// The answer, which decides the outcome of the deliveries.
    package let answer: RetryPolicy.Answer
    /// Start, duration, address and excerpt of the reply.
    package let attempt: Attempt

    package init(_ answer: RetryPolicy.Answer, _ attempt: Attempt) {
        self.answer = answer
        self.attempt = attempt
    }
}
