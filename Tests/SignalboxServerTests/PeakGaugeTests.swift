import Testing

@testable import SignalboxServer

@Suite struct PeakGaugeTests {
    /// Applies changes one after the other, and queries after each.
    private static func falls(_ changes: [Int], from threshold: Int) -> [Bool] {
        var gauge = PeakGauge()
        return changes.map { change in
            gauge.change(by: change)
            return gauge.hasFallen(from: threshold)
        }
    }

    @Test func fallsOnceAfterEachPeak() {
        #expect(Self.falls([100, -50, -1, 0, 51, -60], from: 100) == [false, false, true, false, false, true])
    }

    @Test func ignoresSmallPeaks() {
        #expect(Self.falls([99, -99], from: 100) == [false, false])
    }

    /// Trims the memory of the tests.
    @Test func releasesMemory() { #expect(FreedMemory.release()) }
}
