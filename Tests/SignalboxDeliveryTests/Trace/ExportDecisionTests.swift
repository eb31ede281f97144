import Foundation
import SignalboxEgress
import Testing

@testable import SignalboxGateway

@Suite struct ExportDecisionTests {
    private func decision(
        _ status: Int, _ body: String = "", retryAfter: RetryAfter? = nil, attempt: Int = 1, random: Double = 0
    ) -> ExportDecision {
        let reply = OutboundReply(status: status, excerpt: Array(body.utf8), retryAfter: retryAfter)
        return ExportDecision(
            .success(reply), to: 100, attempt: attempt, now: Date(timeIntervalSince1970: 0), random: random)
    }

    private func failure(_ error: TransportError, attempt: Int = 1) -> ExportDecision {
        ExportDecision(.failure(error), to: 100, attempt: attempt, now: Date(), random: 1)
    }

    @Test(arguments: [200, 202, 204]) func acceptsASuccess(_ status: Int) {
        #expect(decision(status) == .accepted(rejected: 0))
        #expect(decision(status, "{}") == .accepted(rejected: 0))
        #expect(decision(status, "no json") == .accepted(rejected: 0))
    }

    @Test(arguments: [
        #"{"partialSuccess":{"rejectedSpans":"7","errorMessage":"too old"}}"#,
        #"{"partialSuccess":{"rejectedSpans":7}}"#, #"{"partialSuccess":{"rejectedDataPoints":"7"}}"#,
    ])
    func aPartialSuccessIsNotRetried(_ body: String) { #expect(decision(200, body) == .accepted(rejected: 7)) }

    /// The counters of dropped values would overflow.
    @Test func aCollectorRejectsNoMoreThanItGot() {
        let body = #"{"partialSuccess":{"rejectedSpans":"9223372036854775807"}}"#
        #expect(decision(200, body) == .accepted(rejected: 100))
    }

    @Test(arguments: [429, 502, 503, 504]) func retriesTemporaryStatuses(_ status: Int) {
        let reason = "answered \(status)"
        #expect(decision(status) == .retry(after: .seconds(0.5), reason: reason))
        #expect(decision(status, attempt: 4, random: 1) == .retry(after: .seconds(8), reason: reason))
        #expect(decision(status, retryAfter: .seconds(17)) == .retry(after: .seconds(17), reason: reason))
        let date = Date(timeIntervalSince1970: 20)
        #expect(decision(status, retryAfter: .date(date)) == .retry(after: .seconds(20), reason: reason))
        #expect(decision(status, retryAfter: .seconds(.max)) == .retry(after: .seconds(300), reason: reason))
        #expect(decision(status, attempt: ExportDecision.mostAttempts) == .drop(reason: reason))
    }

    @Test(arguments: [301, 400, 401, 404, 408, 413, 500, 501]) func dropsAfterOtherStatuses(_ status: Int) {
        #expect(decision(status, retryAfter: .seconds(1)) == .drop(reason: "answered \(status)"))
    }

    @Test func retriesTemporaryFailuresOfTheNetwork() {
        let refused = TransportError.refused("no listener")
        #expect(failure(refused) == .retry(after: .seconds(1), reason: refused.description))
        #expect(failure(refused, attempt: 7) == .retry(after: .seconds(60), reason: refused.description))
        #expect(failure(refused, attempt: 8) == .drop(reason: refused.description))
        #expect(failure(.denied("loopback")) == .drop(reason: TransportError.denied("loopback").description))
    }
}
