import SignalboxNotification
import Testing

@testable import SignalboxGateway

@Suite struct WatchdogTests {
    private let crm = DestinationName("crm")

    /// Checks of a watchdog in a row.
    private func stalls(_ looks: [(overdue: Double?, isIdle: Bool)]) -> [Bool] {
        var watchdog = Watchdog()
        return looks.map { watchdog.isStalled(crm, overdue: $0.overdue, isIdle: $0.isIdle) }
    }

    @Test func reportsAStalledLaneOnceAfterTwoChecks() {
        #expect(stalls([(61, true), (61, true), (91, true), (121, true)]) == [false, true, false, false])
    }

    @Test func reportsASecondStall() {
        #expect(
            stalls([(61, true), (61, true), (nil, true), (61, true), (61, true)])
                == [false, true, false, false, true])
    }

    @Test func shortOrPausedWaitsAreNotStalls() {
        #expect(
            stalls([(60, true), (60, true), (3600, false), (3600, false), (3600, true), (3600, false), (3600, true)])
                == Array(repeating: false, count: 7))
    }

    /// Numbers of the reads in progress at successive checks.
    @Test(
        arguments: [
            ([1, 1, 1, 2], [nil, 1, nil, nil]), ([1, 2, 3], [nil, nil, nil]), ([1, nil, 1], [nil, nil, nil]),
            ([1, 1, 2, 2], [nil, 1, nil, 2]), ([nil, nil], [nil, nil]),
        ] as [([Int?], [Int?])])
    func reportsAHangingReadOnce(_ looks: [Int?], _ reports: [Int?]) {
        var watchdog = Watchdog()
        #expect(looks.map { watchdog.stuckReading(crm, $0) } == reports)
    }

    @Test func watchesEachLaneSeparately() {
        var watchdog = Watchdog()
        let looks = [crm, DestinationName("other"), crm].map { watchdog.isStalled($0, overdue: 61, isIdle: true) }
        #expect(looks == [false, false, true])
    }
}
