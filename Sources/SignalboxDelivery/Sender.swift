package import SignalboxStore

/// Where a lane puts its events.
package protocol Sender: Sendable {
    /// Makes one attempt. Never throws: what goes wrong is part of the answer.
    func send(_ lease: Lease) async -> SendResult
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
