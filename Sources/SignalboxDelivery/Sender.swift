package import SignalboxStore

/// Where a lane puts its events.
package protocol Sender: Sendable {
    /// Makes one attempt. Never throws: what goes wrong is part of the answer.
    func send(_ lease: Lease) async -> RetryPolicy.Attempt
}
