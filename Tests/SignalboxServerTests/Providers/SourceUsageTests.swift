import NIOCore
import SignalboxConfig
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
        _ limits: GatewayConfig.SourceLimits, on connection: ProviderConnection = .test(),
        after time: TimeAmount = .zero
    ) -> SourceUsage.Admission {
        usage.admit(mobile, within: limits, on: connection, at: start + time)
    }

    @Test func requestsInProgressCountUntilTheirPermitEnds() {
        let limits = GatewayConfig.SourceLimits(streams: 2)
        var held = [admit(limits), admit(limits)]
        #expect(held.compactMap(excess).isEmpty)
        #expect(excess(admit(limits)) == .streams)
        held.removeLast()
        #expect(excess(admit(limits)) == nil)
    }

    @Test func aConnectionCountsOnceUntilItEnds() {
        let limits = GatewayConfig.SourceLimits(connections: 1)
        var connections = [ProviderConnection.test()]
        for _ in 0..<3 { #expect(excess(admit(limits, on: connections[0])) == nil) }
        #expect(excess(admit(limits)) == .connections)
        connections.removeAll()
        #expect(excess(admit(limits)) == nil)
    }

    @Test func theRatePermitsABurstAndFillsAgain() {
        func refused(_ count: Int, after time: TimeAmount) -> Int {
            (0..<count).count { _ in usage.admit(pushes: 1, of: mobile, perSecond: 10, at: start + time) == 0 }
        }
        #expect(refused(11, after: .zero) == 1)
        #expect(refused(2, after: .milliseconds(100)) == 1)
        #expect(refused(11, after: .hours(1)) == 1)
    }

    @Test func theFirstPushMayComeAfterTheConnectionWasCounted() {
        #expect(excess(admit(GatewayConfig.SourceLimits(connections: 1))) == nil)
        #expect(usage.admit(pushes: 1, of: mobile, perSecond: 1, at: start) == 1)
    }

    @Test func theRateCountsThePushesOfABatch() {
        func admitted(_ count: Int, after time: TimeAmount = .zero) -> Int {
            usage.admit(pushes: count, of: mobile, perSecond: 10, at: start + time)
        }
        #expect(admitted(4) == 4)
        #expect(admitted(9) == 6)
        #expect(admitted(1) == 0)
        #expect(admitted(1, after: .milliseconds(100)) == 1)
    }

    /// Requests on two threads may reach the count in another order than they read the clock.
    @Test func aRequestThatReadTheClockEarlierTakesNoTokensAway() {
        func admitted(_ count: Int, after time: TimeAmount) -> Int {
            usage.admit(pushes: count, of: mobile, perSecond: 10, at: start + time)
        }
        #expect(admitted(10, after: .seconds(1)) == 10)
        #expect(admitted(1, after: .zero) == 0)
        #expect(admitted(2, after: .milliseconds(1_100)) == 1)
    }

    /// Requests to the API's own listener come without their connection.
    @Test func aConnectionOfOneRequestIsNotCounted() {
        let limits = GatewayConfig.SourceLimits(connections: 1)
        let connections = (0..<3).map { _ in
            ProviderConnection(
                peer: PeerAddress(nil), address: "", isLoopback: true,
                isOfOneRequest: true)
        }
        for connection in connections { #expect(excess(admit(limits, on: connection)) == nil) }
    }

    @Test func givesNoPermitWithoutLimits() {
        for _ in 0..<1000 {
            guard case .admitted(nil) = admit(GatewayConfig.SourceLimits()) else {
                Issue.record("A permit without a limit.")
                return
            }
        }
    }
}
