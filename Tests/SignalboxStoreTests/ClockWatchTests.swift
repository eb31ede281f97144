import Foundation
import Testing

@testable import SignalboxStore

@Suite struct ClockWatchTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// What a watch says of each pair of seconds on the wall and seconds that passed.
    private func jumps(_ times: [(wall: TimeInterval, passed: Int)]) -> [TimeInterval?] {
        var watch = ClockWatch()
        return times.map { watch.jump(wall: start.addingTimeInterval($0.wall), elapsed: .seconds($0.passed))?.seconds }
    }

    @Test func timeThatPassesIsNoJump() {
        #expect(jumps([(0, 0), (1, 1), (3600, 3600), (86_400, 86_400)]) == [nil, nil, nil, nil])
    }

    @Test func theFirstLookKnowsNothing() {
        #expect(jumps([(-86_400, 17)]) == [nil])
    }

    @Test(arguments: [3600, -3600, 2.5, -2.5, 86_400 * 365] as [TimeInterval]) func aJumpIsToldOnce(
        by seconds: TimeInterval
    ) {
        #expect(jumps([(0, 0), (seconds + 1, 1), (seconds + 2, 2)]) == [nil, seconds, nil])
    }

    @Test(arguments: [2, -2, 0.5, -0.5] as [TimeInterval]) func driftIsNoJump(by seconds: TimeInterval) {
        #expect(jumps([(0, 0), (seconds + 1, 1), (2 * seconds + 2, 2), (3 * seconds + 3, 3)]) == [nil, nil, nil, nil])
    }

    @Test func aJumpAndItsOppositeAreBothTold() {
        #expect(jumps([(0, 0), (3600, 0), (0, 0)]) == [nil, 3600, -3600])
    }

    /// What was written by the old clock moves along, what was written by the new one stays.
    @Test(arguments: [3600, -3600] as [TimeInterval]) func sparesWhatTheMovedClockWrote(by seconds: TimeInterval) {
        var watch = ClockWatch()
        watch.note(1, wall: start, elapsed: .zero)
        #expect(watch.jump(wall: start, elapsed: .zero) == nil)
        watch.note(2, wall: start.addingTimeInterval(0.1), elapsed: .milliseconds(100))
        watch.note(3, wall: start.addingTimeInterval(seconds + 0.1), elapsed: .milliseconds(100))
        let jump = watch.jump(wall: start.addingTimeInterval(seconds + 0.2), elapsed: .milliseconds(200))
        #expect(jump == ClockWatch.Jump(seconds: seconds, sparing: [3]))
        #expect(watch.jump(wall: start.addingTimeInterval(seconds + 1), elapsed: .seconds(1)) == nil)
    }
}
