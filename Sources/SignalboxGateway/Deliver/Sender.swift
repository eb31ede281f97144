import SignalboxEgress
package import SignalboxStore

/// Where a lane puts its events.
package protocol Sender: Sendable {
    /// Makes one attempt. Never throws: what goes wrong is part of the answer.
    func send(_ lease: Lease) async -> SendResult

    /// Makes one attempt with several deliveries in one request; only where the destination's format batches.
    func send(_ batch: [Lease]) async -> SendResult

    /// Asks the destination whether it may be sent to.
    func askPermission() async -> Permission
}

extension Sender {
    /// Where nobody needs to be asked.
    package func askPermission() async -> Permission { .given(perMinute: nil) }

    /// Sends a test past the queue; to a destination that is to be asked for permission, after asking it.
    package func ping(_ lease: Lease) async -> PingResult {
        switch await askPermission() {
        case .given: PingResult(await send(lease))
        case .withheld(let reason, _): PingResult(withheld: reason)
        case .unknown: PingResult(withheld: TransportError.stopped.description)
        }
    }

    package func send(_ batch: [Lease]) async -> SendResult {
        precondition(batch.count == 1, "This sender takes one delivery at a time.")
        return await send(batch[0])
    }
}

/// What an attempt brought, and what its log says.
package struct SendResult: Sendable {
    package let answer: RetryPolicy.Answer
    package let attempt: Attempt

    package init(_ answer: RetryPolicy.Answer, _ attempt: Attempt) {
        self.answer = answer
        self.attempt = attempt
    }
}
