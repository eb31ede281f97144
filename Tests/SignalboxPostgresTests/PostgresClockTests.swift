import Foundation
import Testing

@testable import SignalboxPostgres

@Suite struct PostgresClockTests {
    @Test func followsTheServerAndNeverGoesBack() {
        let clock = PostgresClock()
        let server: Int64 = 2_000_000_000_000
        var instant = ContinuousClock.now
        clock.sample(server, sentAt: instant, receivedAt: instant)
        #expect(abs(clock.now.timeIntervalSince1970 - 2_000_000_000) < 5)
        // A server that is an hour behind, after a failover.
        let before = clock.now
        instant = .now
        clock.sample(server - 3_600_000, sentAt: instant, receivedAt: instant)
        #expect(clock.now >= before)
        // One that is ahead.
        instant = .now
        clock.sample(server + 7_200_000, sentAt: instant, receivedAt: instant)
        #expect(abs(clock.now.timeIntervalSince1970 - 2_000_007_200) < 5)
    }

    @Test func aSampleIsReadInTheMiddleOfItsRoundTrip() {
        let clock = PostgresClock()
        let now = ContinuousClock.now
        clock.sample(2_000_000_000_000, sentAt: now - .seconds(40), receivedAt: now)
        #expect(abs(clock.now.timeIntervalSince1970 - 2_000_000_020) < 5)
    }
}
