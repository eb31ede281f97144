import Testing

@testable import SignalboxPostgres

/// Nodes are silent by the server's clock and by one's own.
@Suite struct OtherHeartbeatsTests {
    private var others = OtherHeartbeats()
    private let start = ContinuousClock.now

    private mutating func silent(_ heartbeats: [(Int64, Int64, Bool)], after seconds: Int) -> [Int64] {
        others.silent(heartbeats.map { (node: $0.0, time: $0.1, isOld: $0.2) }, at: start + .seconds(seconds))
    }

    @Test mutating func aNodeIsSilentAfterItsLastHeartbeatByBothClocks() {
        #expect(silent([(1, 100, false), (2, 100, false)], after: 0).isEmpty)
        #expect(silent([(1, 100, false), (2, 200, false)], after: 10).isEmpty)
        #expect(silent([(1, 100, true), (2, 300, false)], after: 15) == [1])
        #expect(silent([(1, 100, true), (2, 300, true)], after: 17) == [1])
    }

    /// The server's clock was set forward: all other heartbeats are old at once.
    @Test mutating func aStepOfTheServersClockMakesNoneSilent() {
        #expect(silent([(1, 100, false), (2, 100, false)], after: 0).isEmpty)
        #expect(silent([(1, 100, true), (2, 100, true)], after: 2).isEmpty)
        #expect(silent([(1, 500, false), (2, 100, true)], after: 4).isEmpty)
        #expect(silent([(1, 600, false), (2, 100, true)], after: 12) == [2])
    }

    @Test mutating func aNodeThatIsSeenForTheFirstTimeIsNotSilent() {
        #expect(silent([(1, 100, true)], after: 100).isEmpty)
        #expect(silent([], after: 101).isEmpty)
        #expect(silent([(1, 100, true)], after: 120).isEmpty)
        #expect(silent([(1, 100, true)], after: 132) == [1])
    }
}
