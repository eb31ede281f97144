import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxStore
import Testing

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy(.init(attempts: 4, base: .seconds(5), max: .seconds(60)))
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func outcome(_ status: Int, after: RetryAfter? = nil, number: Int = 1, random: Double = 0.5) -> Outcome {
        policy.outcome(of: .replied(status: status, retryAfter: after), number: number, now: now, random: random)
    }

    @Test(arguments: [200, 201, 202, 204, 299]) func deliveredOn2xx(status: Int) {
        #expect(outcome(status) == .delivered(status: status))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599]) func triesAgainOnTemporaryStatuses(status: Int) {
        #expect(outcome(status) == .retry(after: .seconds(2.5), status: status, reason: "answered \(status)"))
    }

    @Test(arguments: [100, 304, 400, 401, 403, 404, 409, 410, 413, 415, 422]) func givesUpOnOtherStatuses(status: Int) {
        #expect(outcome(status) == .dead(status: status, reason: "answered \(status)"))
    }

    @Test(arguments: [301, 302, 307, 308]) func givesUpOnRedirects(status: Int) {
        #expect(outcome(status) == .dead(status: status, reason: "answered \(status): redirects are not followed"))
    }

    @Test func retriesTransportErrorsUnlessPermanent() {
        let passing = [
            TransportError.unresolved("x"), .refused("x"), .tls("x"), .timeoutConnecting("x"), .timeoutReplying("x"),
            .interrupted("x"), .token("x"),
        ]
        for error in passing {
            let outcome = policy.outcome(of: .failed(error), number: 1, now: now, random: 0)
            #expect(outcome == .retry(after: .zero, status: nil, reason: "\(error)"))
        }
        for error in [TransportError.denied("x"), .unusable("x")] {
            let outcome = policy.outcome(of: .failed(error), number: 1, now: now, random: 0)
            #expect(outcome == .dead(status: nil, reason: "\(error)"))
        }
    }

    @Test func ourOwnStopCostsNoAttempt() {
        #expect(policy.outcome(of: .failed(.stopped), number: 4, now: now, random: 0) == .returned)
    }

    @Test func isDeadAfterTheLastAttempt() {
        let dead = Outcome.dead(status: 503, reason: "answered 503; attempt 4 of 4 (retry.attempts)")
        #expect(outcome(503, number: 4) == dead)
        #expect(outcome(503, after: .seconds(9), number: 4) == dead)
    }

    @Test func doublesTheLongestWaitUpToTheMaximum() {
        #expect((1...6).map { policy.backoff($0) } == [5, 10, 20, 40, 60, 60])
        #expect(policy.backoff(1_000) == 60)
    }

    @Test func jittersOverTheWholeWait() {
        #expect(outcome(503, number: 3, random: 0) == .retry(after: .zero, status: 503, reason: "answered 503"))
        let longest = Duration.seconds(0.75 * 20)
        #expect(outcome(503, number: 3, random: 0.75) == .retry(after: longest, status: 503, reason: "answered 503"))
    }

    @Test func addsJitterToRetryAfter() {
        for (random, wait) in [(0.0, 30.0), (0.5, 32.5)] {
            #expect(
                outcome(429, after: .seconds(30), random: random)
                    == .retry(after: .seconds(wait), status: 429, reason: "answered 429"))
        }
        let asked = RetryAfter.date(now.addingTimeInterval(90))
        #expect(
            outcome(503, after: asked, random: 0)
                == .retry(after: .seconds(90), status: 503, reason: "answered 503"))
    }

    @Test func waitsNoLongerThanADayForAnyServer() {
        let longest = Duration.seconds(24 * 3600)
        #expect(
            outcome(503, after: .seconds(.max), random: 0)
                == .retry(after: longest, status: 503, reason: "answered 503"))
    }

    @Test func exhaustedDescriptorsCountAsNoAttempt() {
        let outcome = policy.outcome(of: .failed(.exhausted("x")), number: 4, now: now, random: 0.5)
        #expect(
            outcome == .postponed(for: .seconds(1.5), reason: "no connection could be opened here: x"))
    }

    // MARK: Health

    @Test func pausesForTheRequestedTime() {
        let cases: [(RetryPolicy.Answer, TimeInterval?)] = [
            (.replied(status: 429, retryAfter: .seconds(30)), 30),
            (.replied(status: 503, retryAfter: .date(now.addingTimeInterval(90))), 90),
            (.replied(status: 503, retryAfter: .date(now.addingTimeInterval(-90))), 0),
            (.replied(status: 429, retryAfter: .seconds(.max)), 24 * 3600),
            (.replied(status: 429, retryAfter: nil), nil),
            (.replied(status: 500, retryAfter: .seconds(30)), nil),
            (.replied(status: 200, retryAfter: .seconds(30)), nil),
            (.failed(.refused("x")), nil),
        ]
        for (answer, quiet) in cases { #expect(RetryPolicy.quiet(after: answer, now: now) == quiet, "\(answer)") }
    }

    @Test func healthIsIllAfter5xxAndNetworkFailures() {
        let cases: [(RetryPolicy.Health, [Int])] = [
            (.well, [200, 204, 301, 400, 401, 404, 408, 410, 425, 429]), (.ill, [500, 502, 503, 504, 599]),
        ]
        for (health, statuses) in cases {
            for status in statuses {
                #expect(RetryPolicy.health(by: .replied(status: status, retryAfter: nil)) == health, "\(status)")
            }
        }
        for error in [TransportError.unresolved("x"), .refused("x"), .tls("x"), .timeoutReplying("x")] {
            #expect(RetryPolicy.health(by: .failed(error)) == .ill, "\(error)")
        }
        for error in [TransportError.stopped, .exhausted("x"), .unusable("x"), .denied("x")] {
            #expect(RetryPolicy.health(by: .failed(error)) == .unknown, "\(error)")
        }
    }

    @Test func only410DisablesADestination() {
        for status in 100..<600 {
            let reason = RetryPolicy.disabling(.replied(status: status, retryAfter: nil))
            #expect((reason != nil) == (status == 410), "\(status)")
        }
        #expect(RetryPolicy.disabling(.failed(.refused("x"))) == nil)
    }
}
