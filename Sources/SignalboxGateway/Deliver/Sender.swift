package import SignalboxStore

/// Sends the events of a lane. A lane has several attempts in progress at once, up to the destination's concurrency.
/// ``WebhookSender`` posts to a URL, and ``InboxSender`` prints.
package protocol Sender: Sendable {
    /// Makes one attempt with these deliveries in one request: one delivery, unless the destination's format batches.
    /// Returns without waiting. Failures are part of the result. The destination's timeout bounds each request.
    /// `leases` has at least one delivery. `mayBegin`: whether they are still held and the destination accepts
    /// attempts, asked right before each request with them, because an access token may take long. Calls `done` once,
    /// on any thread, or before it returns: `done` must not block. It receives a function that makes the result, to be
    /// called once on another thread, because that may take longer. The result is nil if `mayBegin` said no.
    func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void)

    /// The URL that it posts to; nil for a sender that makes no requests. A lane whose sender posts to the same URL
    /// continues the backoff of its predecessor.
    var url: String? { get }

    /// Requests the destination's permission. Called by one attempt at a time, before its deliveries are sent.
    func askPermission() async -> Permission
}

extension Sender {
    /// For senders that make no requests.
    package var url: String? { nil }

    /// For destinations that need no permission. Permits any number of requests a minute.
    package func askPermission() async -> Permission { .given(perMinute: nil) }

    /// Makes one attempt, and waits for its result.
    package func send(_ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool) async -> SendResult? {
        let result = await withCheckedContinuation { done in
            send(leases, if: mayBegin) { done.resume(returning: $0) }
        }
        return result()
    }

    /// Sends a test event without the queue, after requesting permission if the destination needs it. Makes at most
    /// one attempt and records nothing. `lease`: from ``OperationalEvent/pingLease(to:at:)``.
    package func ping(_ lease: Lease) async -> PingResult {
        switch await askPermission() {
        case .given: await send([lease]) { true }.map { PingResult($0) } ?? .notSent
        case .withheld(let reason, _): PingResult(withheld: reason)
        case .unknown: .notSent
        }
    }
}

/// The answer to an attempt, and its record in the log of attempts. One result for all deliveries of the request.
package struct SendResult: Sendable {
    /// The answer, which decides the outcome of the deliveries.
    package let answer: RetryPolicy.Answer
    /// Start, duration, address and excerpt of the reply.
    package let attempt: Attempt
    /// The span of the attempt if it is exported, for exemplars of metrics; nil otherwise.
    package var trace: TraceContext?

    /// `answer` and `attempt` must describe the same request.
    package init(_ answer: RetryPolicy.Answer, _ attempt: Attempt) { (self.answer, self.attempt) = (answer, attempt) }
}
