package import SignalboxStore

/// Where a lane puts its events.
package protocol Sender: Sendable {
    /// Makes one attempt. Never throws: what goes wrong is part of the answer.
    func send(_ lease: Lease) async -> SendResult

    /// Makes one attempt with several deliveries in one request; only where the destination's format batches.
    func send(_ batch: [Lease]) async -> SendResult
}

extension Sender {
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
