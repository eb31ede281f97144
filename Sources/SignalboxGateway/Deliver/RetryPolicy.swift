package import Foundation
package import SignalboxConfig
package import SignalboxEgress
package import SignalboxStore

/// Decides the outcome of a delivery after an attempt. Pure: the caller passes the time and the random number.
package struct RetryPolicy: Sendable {
    private let retry: Destination.Retry
    /// Longer waits that a server requests are cut to this.
    static let longestRetryAfter: TimeInterval = 24 * 3600

    package init(_ retry: Destination.Retry) { self.retry = retry }

    /// The result of an attempt.
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

    /// `number`: of this attempt, from 1. `random`: in 0..<1, evaluated for retries only, because it is a system call.
    package func outcome(
        of answer: Answer, number: Int, now: Date, random: @autoclosure () -> Double
    ) -> Outcome {
        switch answer {
        case .failed(.stopped): return .returned
        case .failed(.exhausted(let reason)):
            return .postponed(
                until: now.addingTimeInterval(1 + random()), reason: TransportError.exhausted(reason).description)
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

    private func again(
        _ number: Int, _ now: Date, _ random: Double, status: Int?, reason: String, retryAfter: RetryAfter?
    ) -> Outcome {
        guard number < retry.attempts else {
            return .dead(status: status, reason: "\(reason), after \(number) attempts")
        }
        // In addition to the requested time, so that senders with the same `Retry-After` do not return at once.
        let asked = min(retryAfter?.delay(from: now) ?? 0, Self.longestRetryAfter)
        return .retry(at: now.addingTimeInterval(asked + backoff(number) * random), status: status, reason: reason)
    }

    /// The pause that the destination requests for all its deliveries, in seconds.
    package static func quiet(after answer: Answer, now: Date) -> TimeInterval? {
        guard case .replied(let status, let retryAfter?) = answer, status == 429 || status == 503 else { return nil }
        return min(retryAfter.delay(from: now), longestRetryAfter)
    }

    /// The longest wait after this attempt, in seconds: doubled each time, up to the maximum.
    package func backoff(_ number: Int) -> TimeInterval {
        let base = TimeInterval(retry.base.milliseconds) / 1000
        let longest = TimeInterval(retry.max.milliseconds) / 1000
        return min(longest, base * pow(2, TimeInterval(min(number - 1, 62))))
    }

    /// The health of the destination that an answer shows, independent of the delivery's outcome.
    package enum Health: Sendable, Equatable {
        case well, ill, unknown
    }

    package static func health(by answer: Answer) -> Health {
        switch answer {
        case .failed(.stopped), .failed(.exhausted), .failed(.unusable), .failed(.denied): .unknown
        case .failed: .ill
        case .replied(let status, _): (500..<600).contains(status) ? .ill : .well
        }
    }

    /// Why an answer disables its destination; nil if it does not. 410 means permanently gone (Standard Webhooks;
    /// CloudEvents HTTP web hooks, 2.2).
    package static func disabling(_ answer: Answer) -> String? {
        if case .replied(status: 410, _) = answer { "answered 410: it is gone" } else { nil }
    }

    private static func isTemporary(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429 || (500..<600).contains(status)
    }

    fileprivate static func text(for status: Int) -> String {
        (300..<400).contains(status) ? "answered \(status): redirects are not followed" : "answered \(status)"
    }
}
