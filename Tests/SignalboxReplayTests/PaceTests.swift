import SignalboxGateway
import SignalboxNotification
import Testing

@Suite struct PaceTests {
    private func time(_ milliseconds: Int64) throws -> Timestamp { try #require(Timestamp(milliseconds: milliseconds)) }

    @Test func doesNotWaitWithoutAPace() {
        var pace = Pace()
        #expect(!pace.isBounded)
        #expect(pace.delay(of: 1_000_000, recorded: nil, at: .seconds(1)) == .zero)
        #expect(pace.delay(of: 1, recorded: nil, at: .seconds(1)) == .zero)
    }

    @Test func aRateSpreadsEventsEvenly() {
        var pace = Pace(perSecond: 100)
        #expect(pace.mostTogether == 10)
        #expect(pace.delay(of: 10, recorded: nil, at: .zero) == .zero)
        #expect(pace.delay(of: 10, recorded: nil, at: .zero) == .milliseconds(100))
        #expect(pace.delay(of: 5, recorded: nil, at: .milliseconds(150)) == .milliseconds(50))
        // Unused time does not accumulate.
        #expect(pace.delay(of: 10, recorded: nil, at: .seconds(60)) == .zero)
        #expect(pace.delay(of: 10, recorded: nil, at: .seconds(60)) == .milliseconds(100))
        #expect(Pace(perSecond: 0.5).mostTogether == 1)
    }

    @Test func aSpeedKeepsTheIntervalsOfTheRecording() throws {
        var pace = Pace(speed: 10)
        #expect(pace.spanTogether == 1000)
        #expect(pace.delay(of: 1, recorded: try time(5_000_000), at: .seconds(2)) == .zero)
        #expect(pace.delay(of: 1, recorded: try time(5_060_000), at: .seconds(2)) == .seconds(6))
        #expect(pace.delay(of: 1, recorded: try time(5_060_000), at: .seconds(10)) == .zero)
        // Recorded out of order: at once.
        #expect(pace.delay(of: 1, recorded: try time(4_000_000), at: .seconds(10)) == .zero)
    }

    @Test func usesTheSlowerOfRateAndSpeed() throws {
        var pace = Pace(perSecond: 1, speed: 1)
        #expect(pace.delay(of: 1, recorded: try time(0), at: .zero) == .zero)
        #expect(pace.delay(of: 1, recorded: try time(10), at: .zero) == .seconds(1))
        #expect(pace.delay(of: 1, recorded: try time(9000), at: .seconds(1)) == .seconds(8))
    }
}
