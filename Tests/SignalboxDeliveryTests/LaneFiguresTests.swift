import Foundation
import SignalboxEgress
import SignalboxStore
import Testing

@testable import SignalboxGateway

@Suite struct LaneFiguresTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func result(_ milliseconds: Int, _ answer: RetryPolicy.Answer) -> SendResult {
        SendResult(answer, Attempt(startedAt: now, duration: .milliseconds(milliseconds)))
    }

    private let fine = RetryPolicy.Answer.replied(status: 204, retryAfter: nil)

    @Test func percentilesAreOfTheNearestRank() throws {
        #expect(LaneFigures.latency(of: []) == nil)
        #expect(LaneFigures.latency(of: [7]) == .init(p50: 7, p95: 7, p99: 7))
        #expect(LaneFigures.latency(of: Array(1...100)) == .init(p50: 50, p95: 95, p99: 99))
        #expect(LaneFigures.latency(of: [1, 2]) == .init(p50: 1, p95: 2, p99: 2))
    }

    @Test func keepsTheLastDurationsOnly() throws {
        let figures = LaneFigures()
        for _ in 0..<1000 { figures.record(result(9000, fine), at: now, elapsed: .zero) }
        for _ in 0..<LaneFigures.durations { figures.record(result(5, fine), at: now, elapsed: .zero) }
        #expect(figures.values(at: .zero).latency == .init(p50: 5, p95: 5, p99: 5))
    }

    @Test func measuresTheRateOfCompleteSeconds() {
        let figures = LaneFigures()
        for second in 0..<10 {
            for _ in 0..<3 { figures.record(result(1, fine), at: now, elapsed: .seconds(second)) }
        }
        #expect(figures.values(at: .seconds(10)).perSecond == 3)
        #expect(figures.values(at: .seconds(15)).perSecond == 1.5)
        #expect(figures.values(at: .seconds(100)).perSecond == 0)
    }

    @Test func remembersTheLastSuccessAndFailure() throws {
        let figures = LaneFigures()
        figures.record(result(1, fine), at: now, elapsed: .zero)
        figures.record(result(1, .replied(status: 503, retryAfter: nil)), at: now + 1, elapsed: .zero)
        figures.record(result(1, .failed(.stopped)), at: now + 2, elapsed: .zero)
        let values = figures.values(at: .zero)
        let (success, failure) = (try #require(values.lastSuccess), try #require(values.lastFailure))
        #expect(success.at == now && success.status == 204 && success.reason == nil)
        #expect(failure.at == now + 1 && failure.status == 503 && failure.reason == "answered 503")
    }

    @Test func aBreakerSaysItsState() {
        var breaker = Breaker(failures: 2, probe: .seconds(30))
        #expect(breaker.word == .closed && breaker.failuresInARow == 0)
        _ = breaker.failed(begunAt: .zero, at: .zero)
        #expect(breaker.word == .closed && breaker.failuresInARow == 1)
        _ = breaker.failed(begunAt: .zero, at: .zero)
        #expect(breaker.word == .open && breaker.failuresInARow == 2)
        breaker.beginProbe(at: .seconds(30))
        #expect(breaker.word == .probing)
    }

    @Test(arguments: ["30m", "2027-01-15T09:00:00Z", "366d"]) func aPauseHasAnEnd(text: String) throws {
        let date = try #require(PauseEnd.date(text, now: now))
        #expect(date > now)
    }

    @Test(arguments: ["", "0s", "367d", "soon", "2026-01-01T00:00:00Z", "-5m", "2099-01-01T00:00:00Z"])
    func rejectsOtherEnds(text: String) { #expect(PauseEnd.date(text, now: now) == nil) }
}
