package import Foundation
package import SignalboxConfig
package import SignalboxEgress
package import SignalboxStore

/// Decides the outcome of a delivery after an attempt. Pure: the caller passes the time and the random number. Lanes
/// use it for deliveries, handshakes for permissions, and downloads for its backoff only.
package struct RetryPolicy: Sendable {
    private let retry: Destination.Retry
    /// Longer waits that a server requests are cut to this.
    static let longestRetryAfter: TimeInterval = 24 * 3600

    /// `retry`: attempts and backoff of the destination. The policy has no state: a delivery's number of attempts
    /// comes from the queue.
    package init(_ retry: Destination.Retry) { self.retry = retry }

    /// The result of an attempt. ``Sender`` makes it from the HTTP reply or the transport error, without the body.
    package enum Answer: Sendable, Equatable {
        case replied(status: Int, retryAfter: RetryAfter?)
        case failed(TransportError)

        /// HTTP status, if there was a reply.
        package var status: Int? { if case .replied(let status, _) = self { status } else { nil } }

        /// The answer as text, for operators.
        var text: String {
            switch self {
            case .replied(let status, _): RetryPolicy.text(for: status)
            case .failed(let error): error.description
            }
        }
    }

    /// `number`: the number of this attempt, from 1. `random`: in 0..<1, evaluated for retries only, because it is a
    /// system call. Delivered for 2xx. Retried for temporary failures: transport errors that may pass, 408, 425, 429
    /// and 5xx. Returned if the gateway stopped. Postponed by one to two seconds, without counting the attempt, if this
    /// process has no descriptors. Dead in all other cases, and after the last attempt.
    package func outcome(of answer: Answer, number: Int, now: Date, random: @autoclosure () -> Double) -> Outcome {
        switch answer {
        case .failed(.stopped): return .returned
        case .failed(.exhausted(let reason)):
            return .postponed(for: .seconds(1 + random()), reason: TransportError.exhausted(reason).description)
        case .failed(let error):
            guard error.isTemporary else { return .dead(status: nil, reason: error.description) }
            return again(number, now, random(), status: nil, reason: error.description, retryAfter: nil)
        case .replied(let status, let retryAfter):
            if (200..<300).contains(status) { return .delivered(status: status) }
            let reason = Self.text(for: status)
            guard Self.isTemporary(status) else { return .dead(status: status, reason: reason) }
            return again(number, now, random(), status: status, reason: reason, retryAfter: retryAfter)
        }
    }

    /// Adds a random part of the backoff to the time that the server asked for, so retries of many deliveries spread
    /// out.
    private func again(
        _ number: Int, _ now: Date, _ random: Double, status: Int?, reason: String, retryAfter: RetryAfter?
    ) -> Outcome {
        guard number < retry.attempts else {
            let attempt = "attempt \(number) of \(retry.attempts) (retry.attempts)"
            return .dead(status: status, reason: "\(reason); \(attempt)")
        }
        // In addition to the requested time, so that senders with the same `Retry-After` do not return at once.
        let asked = min(retryAfter?.delay(from: now) ?? 0, Self.longestRetryAfter)
        return .retry(after: .seconds(asked + backoff(number) * random), status: status, reason: reason)
    }

    /// The pause that the destination requests for all its deliveries, in seconds. Nil unless the status is 429 or
    /// 503 with a `Retry-After`. At most ``longestRetryAfter``.
    package static func quiet(after answer: Answer, now: Date) -> TimeInterval? {
        guard case .replied(let status, let retryAfter?) = answer, status == 429 || status == 503 else { return nil }
        return min(retryAfter.delay(from: now), longestRetryAfter)
    }

    /// The longest wait after this attempt, in seconds: doubled each time, up to the maximum. `number`: the number of
    /// the attempt that failed, from 1. The exponent is bounded, so large numbers do not overflow.
    package func backoff(_ number: Int) -> TimeInterval {
        let base = TimeInterval(retry.base.milliseconds) / 1000
        let longest = TimeInterval(retry.max.milliseconds) / 1000
        return min(longest, base * pow(2, TimeInterval(min(number - 1, 62))))
    }

    /// The health of the destination that an answer shows, independent of the delivery's outcome. The breaker opens
    /// after failures in a row; `unknown` neither opens nor closes it.
    package enum Health: Sendable, Equatable {
        case well, ill, unknown
    }

    /// Reads an answer: network failures and 5xx are ill, any other reply is well. Failures of this process and of
    /// the config do not count. A reply such as 404 shows a destination that works, although the delivery fails.
    package static func health(by answer: Answer) -> Health {
        switch answer {
        case .failed(.stopped), .failed(.exhausted), .failed(.unusable), .failed(.denied): .unknown
        case .failed: .ill
        case .replied(let status, _): (500..<600).contains(status) ? .ill : .well
        }
    }

    /// Whether the destination rejects a request for its size (RFC 9110, 15.5.14), so that it may accept a part of it.
    package static func isTooLarge(_ answer: Answer) -> Bool { answer.status == 413 }

    /// Why an answer disables its destination; nil if it does not. 410 means permanently gone (Standard Webhooks;
    /// CloudEvents HTTP web hooks, 2.2). The text is the reason that operators see. The destination then stays
    /// disabled until an operator resumes it.
    package static func disabling(_ answer: Answer) -> String? {
        if case .replied(status: 410, _) = answer { "answered 410: it is gone" } else { nil }
    }

    /// The other statuses would be the same for each attempt with this request.
    private static func isTemporary(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429 || (500..<600).contains(status)
    }

    /// 304 is not a redirect (RFC 9110, 15.4.5).
    fileprivate static func text(for status: Int) -> String {
        let isRedirect = (300..<400).contains(status) && status != 304
        return isRedirect ? "answered \(status): redirects are not followed" : "answered \(status)"
    }
}
