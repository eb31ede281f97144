import Testing

@testable import SignalboxGateway

@Suite struct BreakerTests {
    private func breaker(failures: Int = 3) -> Breaker { Breaker(failures: failures, probe: .seconds(30)) }

    @Test func opensAfterTheConfiguredFailuresInARow() {
        var breaker = breaker()
        let opened = (0..<3).map { breaker.failed(begunAt: .seconds($0), at: .seconds($0)) }
        #expect(opened == [false, false, true])
        #expect(breaker.permission(at: .seconds(2)) == .none(until: .seconds(32)))
        #expect(!breaker.isClosed)
    }

    @Test func successResetsTheFailureCount() {
        var breaker = breaker()
        for _ in 0..<10 {
            let opened = (0..<2).map { _ in breaker.failed(begunAt: .zero, at: .zero) }
            #expect(opened == [false, false])
            let closes = breaker.succeeded()
            #expect(!closes)
        }
        #expect(breaker.permission(at: .zero) == .any)
    }

    @Test func opensAfterOneFailureIfConfigured() {
        var breaker = breaker(failures: 1)
        let opens = breaker.failed(begunAt: .zero, at: .zero)
        #expect(opens)
    }

    @Test func permitsOneProbeAfterItsTime() {
        var breaker = opened()
        #expect(breaker.permission(at: .seconds(29)) == .none(until: .seconds(30)))
        #expect(breaker.permission(at: .seconds(30)) == .probe)
        breaker.beginProbe(at: .seconds(30))
        #expect(breaker.permission(at: .seconds(31)) == .noneYet)
        #expect(breaker.permission(at: .seconds(3100)) == .noneYet)
    }

    @Test func successfulProbeClosesTheBreaker() {
        var breaker = opened()
        breaker.beginProbe(at: .seconds(30))
        let closes = breaker.succeeded()
        #expect(closes)
        #expect(breaker.isClosed)
        let opensAgain = breaker.failed(begunAt: .seconds(31), at: .seconds(31))
        #expect(!opensAgain, "it counts from zero")
    }

    @Test func failedProbeReopensSilently() {
        var breaker = opened()
        breaker.beginProbe(at: .seconds(30))
        let opens = breaker.failed(begunAt: .seconds(40), at: .seconds(40))
        #expect(!opens)
        #expect(breaker.permission(at: .seconds(40)) == .none(until: .seconds(70)))
    }

    @Test func endsTheWaitForItsProbe() {
        var breaker = opened()
        breaker.endWait(at: .seconds(1))
        #expect(breaker.permission(at: .seconds(1)) == .probe)
        breaker.beginProbe(at: .seconds(1))
        breaker.endWait(at: .seconds(2))
        #expect(breaker.permission(at: .seconds(2)) == .noneYet, "one probe at a time")
    }

    @Test func abandonedProbeIsPermittedAgain() {
        var breaker = opened()
        breaker.beginProbe(at: .seconds(30))
        breaker.abandonProbe(begunAt: .seconds(31), at: .seconds(31))
        #expect(breaker.permission(at: .seconds(31)) == .probe)
    }

    @Test func ignoresResultsOfAttemptsBeforeItOpened() {
        var breaker = opened()
        let opens = breaker.failed(begunAt: .seconds(10), at: .seconds(10))
        #expect(!opens)
        #expect(breaker.permission(at: .seconds(10)) == .none(until: .seconds(30)))
        breaker.abandonProbe(begunAt: .seconds(11), at: .seconds(11))
        #expect(breaker.permission(at: .seconds(11)) == .none(until: .seconds(30)))
    }

    @Test func aFailureOfAnEarlierAttemptDoesNotEndTheProbe() {
        var breaker = opened()
        breaker.beginProbe(at: .seconds(30))
        let opens = breaker.failed(begunAt: .seconds(29), at: .seconds(35))
        #expect(!opens)
        breaker.abandonProbe(begunAt: .seconds(29), at: .seconds(36))
        #expect(breaker.permission(at: .seconds(100)) == .noneYet, "one probe at a time")
        _ = breaker.failed(begunAt: .seconds(30), at: .seconds(40))
        #expect(breaker.permission(at: .seconds(40)) == .none(until: .seconds(70)))
    }

    private func opened() -> Breaker {
        var breaker = breaker()
        for _ in 0..<3 { _ = breaker.failed(begunAt: .zero, at: .zero) }
        return breaker
    }
}

@Suite struct TokenBucketTests {
    @Test func beginsWithOneSecondsWorth() {
        var bucket = TokenBucket(perSecond: 4, at: .zero)
        let taken = [bucket.take(upTo: 3, at: .zero), bucket.take(upTo: 3, at: .zero), bucket.take(upTo: 3, at: .zero)]
        #expect(taken == [3, 1, 0])
        #expect(bucket.wait == .milliseconds(250))
    }

    @Test func keepsItsRateInTheLongRun() {
        for rate in [0.5, 1, 4, 64] {
            var bucket = TokenBucket(perSecond: rate, at: .zero)
            let steps = 0..<(200 * 8)
            let taken = steps.reduce(0) { $0 + bucket.take(upTo: 1000, at: .milliseconds($1 * 125)) }
            #expect(Double(taken) <= rate * 200 + max(1, rate))
            #expect(Double(taken) >= rate * 199)
        }
    }

    @Test func limitsBurstsToOneSecond() {
        var bucket = TokenBucket(perSecond: 4, at: .zero)
        let taken = bucket.take(upTo: 1000, at: .seconds(3600))
        #expect(taken == 4)
        bucket.giveBack(1000)
        let again = bucket.take(upTo: 1000, at: .seconds(3600))
        #expect(again == 4)
    }

    @Test func givesOneTokenAtATimeBelowOneASecond() {
        var bucket = TokenBucket(perSecond: 0.25, at: .zero)
        let first = [bucket.take(upTo: 5, at: .zero), bucket.take(upTo: 5, at: .seconds(3))]
        #expect(first == [1, 0])
        #expect(bucket.wait == .seconds(1))
        let next = bucket.take(upTo: 5, at: .seconds(4))
        #expect(next == 1)
    }

    @Test func addsNoTokensWhenTheClockGoesBack() {
        var bucket = TokenBucket(perSecond: 4, at: .seconds(10))
        let taken = [bucket.take(upTo: 4, at: .seconds(10)), bucket.take(upTo: 4, at: .seconds(5))]
        #expect(taken == [4, 0])
    }

    @Test func hasATokenAfterTheWait() {
        for rate in [0.1, 0.3, 1, 3, 7, 1000] {
            var bucket = TokenBucket(perSecond: rate, at: .zero)
            _ = bucket.take(upTo: .max, at: .zero)
            var now = Duration.zero
            // Rounding may cost another round, but never more than a few.
            for _ in 0..<3 where bucket.wait > .zero { now += bucket.wait + .nanoseconds(1) }
            let taken = bucket.take(upTo: 1, at: now)
            #expect(taken == 1, "\(rate)")
        }
    }
}
