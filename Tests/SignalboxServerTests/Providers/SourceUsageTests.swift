import NIOCore
import SignalboxNotification
import Testing

@testable import SignalboxServer

struct SourceUsageTests {
    private let usage = SourceUsage()
    private let mobile = SourceName("mobile")
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func excess(_ admission: SourceUsage.Admission) -> SourceUsage.Excess? {
        if case .refused(let excess) = admission { excess } else { nil }
    }

    private func admit(
        _ limits: SourceUsageLimits, on connection: ProviderConnection = .test(), after time: TimeAmount = .zero
    ) -> SourceUsage.Admission {
        usage.admit(mobile, within: limits, on: connection, at: start + time)
    }

    @Test func requestsInProgressCountUntilTheirPermitEnds() {
        let limits = SourceUsageLimits(streams: 2)
        var held = [admit(limits), admit(limits)]
        #expect(held.compactMap(excess).isEmpty)
        #expect(excess(admit(limits)) == .streams)
        held.removeLast()
        #expect(excess(admit(limits)) == nil)
    }

    @Test func aConnectionCountsOnceUntilItEnds() {
        let limits = SourceUsageLimits(connections: 1)
        var connections = [ProviderConnection.test()]
        for _ in 0..<3 { #expect(excess(admit(limits, on: connections[0])) == nil) }
        #expect(excess(admit(limits)) == .connections)
        connections.removeAll()
        #expect(excess(admit(limits)) == nil)
    }

    @Test func theRatePermitsABurstAndFillsAgain() {
        let limits = SourceUsageLimits(pushesPerSecond: 10)
        func refused(_ count: Int, after time: TimeAmount) -> Int {
            (0..<count).map { _ in admit(limits, after: time) }.compactMap(excess).count
        }
        #expect(refused(11, after: .zero) == 1)
        #expect(refused(2, after: .milliseconds(100)) == 1)
        #expect(refused(11, after: .hours(1)) == 1)
    }

    @Test func theFirstPushMayComeAfterTheConnectionWasCounted() {
        let limits = SourceUsageLimits(connections: 1, pushesPerSecond: 1)
        #expect(excess(admit(limits)) == nil)
    }

    @Test func givesNoPermitWithoutLimits() {
        for _ in 0..<1000 {
            guard case .admitted(nil) = admit(SourceUsageLimits()) else {
                Issue.record("A permit without a limit.")
                return
            }
        }
    }
}
