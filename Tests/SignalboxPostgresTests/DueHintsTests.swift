import Foundation
import SignalboxNotification
import Testing

@testable import SignalboxPostgres

@Suite struct DueHintsTests {
    private static let crm = DestinationName("crm")
    private static let now = Date(timeIntervalSince1970: 1_000_000)
    private let hints = DueHints()
    private let zero = ContinuousClock.now

    /// Runs a search that takes 10 ms.
    @discardableResult
    private func search(_ offset: Duration, found due: Date? = nil, _ meanwhile: () -> Void = {}) -> DueHints.Start {
        let start = hints.start(of: Self.crm, at: zero + offset)
        meanwhile()
        _ = hints.record(Self.crm, start, due, at: Self.now, ended: zero + offset + .milliseconds(10))
        return start
    }

    @Test func aWholeSearchIsFollowedByOthersForFiftyTimesAsLong() {
        #expect(search(.zero).isWhole)
        for offset in [11, 100, 509] { #expect(!search(.milliseconds(offset)).isWhole) }
        #expect(search(.milliseconds(510)).isWhole)
        #expect(!search(.milliseconds(521)).isWhole)
    }

    @Test func aSearchBeginsWhereTheLastOneEnded() {
        let last = Self.now - 100
        search(.zero, found: last)
        #expect(search(.milliseconds(20), found: last + 5).due == last)
        #expect(search(.milliseconds(40)).due == last + 5)
        // The search found all but the commits that become visible late.
        #expect(search(.milliseconds(60)).due == Self.now - DueHints.latest)
    }

    @Test func tellsWhenTheNextWholeSearchIs() {
        search(.zero)
        let start = hints.start(of: Self.crm, at: zero + .milliseconds(100))
        let rest = hints.record(Self.crm, start, nil, at: Self.now, ended: zero + .milliseconds(110))
        #expect(rest == .milliseconds(400))
    }

    @Test func theSearchAfterAResetIsWhole() {
        search(.zero)
        hints.reset()
        #expect(search(.milliseconds(20)).isWhole)
    }

    /// The search may have passed the place of a delivery that became free.
    @Test func theSearchAfterOneWithAResetIsWhole() {
        search(.zero) { hints.reset() }
        #expect(search(.milliseconds(20)).isWhole)
        search(.milliseconds(40)) { hints.reset() }
        #expect(search(.milliseconds(60)).isWhole)
    }

    @Test func theSearchAfterAnEarlierDeliveryIsWhole() {
        search(.zero)
        hints.note(Self.crm, firstDue: Self.now)
        #expect(!search(.milliseconds(20)).isWhole)
        hints.note(Self.crm, firstDue: Self.now - 2)
        #expect(search(.milliseconds(40)).isWhole)
        hints.note(DestinationName("other"), firstDue: .distantPast)
        #expect(!search(.milliseconds(60)).isWhole)
    }
}
