import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite struct StoreClockTests {
    private let date = ManualDate()

    /// The jumps that a store reads if it follows each of them. `steps`: seconds that pass, and seconds by which the
    /// wall clock is then set.
    private func jumps(_ steps: [(passed: Double, set: Double)]) -> [TimeInterval?] {
        let clock = StoreClock(wall: { date.now }, elapsed: { date.elapsed })
        return steps.map { step in
            date.advance(by: step.passed)
            date.set(by: step.set)
            let reading = clock.read()
            clock.follow(reading)
            return reading.jump
        }
    }

    @Test func passingTimeIsNotAJump() {
        #expect(jumps([(0, 0), (1, 0), (3600, 0), (86_400, 0)]) == [nil, nil, nil, nil])
    }

    @Test(arguments: [3600, -3600, 2.5, -2.5, 86_400 * 365] as [TimeInterval]) func reportsAJumpOnce(
        by seconds: TimeInterval
    ) {
        #expect(jumps([(1, seconds), (1, 0)]) == [seconds, nil])
    }

    @Test(arguments: [2, -2, 0.5, -0.5] as [TimeInterval]) func driftIsNotAJump(by seconds: TimeInterval) {
        #expect(jumps([(1, seconds), (1, seconds), (1, seconds)]) == [nil, nil, nil])
    }

    @Test func reportsAJumpAndItsOpposite() { #expect(jumps([(0, 3600), (0, -3600)]) == [3600, -3600]) }

    /// The clock of the process that wrote the times, compared with the one at the start of the next process.
    @Test(arguments: [(3600, -3600), (2.5, -2.5), (2, nil), (0, nil), (-3600, nil)] as [(TimeInterval, TimeInterval?)])
    func reportsAClockThatWasSetBackBetweenProcesses(written: TimeInterval, jump: TimeInterval?) {
        let clock = StoreClock(wall: { date.now }, elapsed: { date.elapsed })
        clock.continueTimes(from: date.now.addingTimeInterval(written))
        let reading = clock.read()
        #expect(reading.jump == jump)
        clock.follow(reading)
        date.set(by: 60)
        #expect(clock.read().jump == 60)
    }

    /// A transaction that fails has moved nothing, so the next one moves all of it.
    @Test func reportsAJumpUntilItIsFollowed() {
        let clock = StoreClock(wall: { date.now }, elapsed: { date.elapsed })
        date.set(by: 3600)
        #expect(clock.read().jump == 3600)
        date.set(by: 60)
        let reading = clock.read()
        #expect(reading.jump == 3660)
        clock.follow(reading)
        #expect(clock.read().jump == nil)
    }
}
