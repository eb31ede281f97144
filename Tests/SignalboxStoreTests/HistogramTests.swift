import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite struct HistogramTests {
    @Test func aDurationBelongsToTheBucketOfItsBound() {
        let histogram = Histogram(.request)
        histogram.observe(.milliseconds(250))
        histogram.observe(.milliseconds(250) + .nanoseconds(1))
        histogram.observe(.seconds(-1))
        histogram.observe(.milliseconds(-500))
        histogram.observe(.seconds(1_000_000_000_000))
        let values = histogram.values
        func count(_ bound: Double) -> Int? { values.bounds.firstIndex(of: bound).map { values.buckets[$0] } }
        #expect(count(0.005) == 2 && count(0.1) == 2 && count(0.25) == 3 && count(0.5) == 4)
        #expect(values.count == 5 && values.sum > 0 && values.buckets.count == values.bounds.count + 1)
    }

    @Test(arguments: [Histogram.Bounds.request, .lag]) func boundsAscend(_ bounds: Histogram.Bounds) {
        #expect(bounds.seconds == bounds.seconds.sorted() && Set(bounds.seconds).count == bounds.seconds.count)
        #expect(bounds.seconds.first == 0.005 && bounds.seconds.contains(10))
    }

    /// Against sorting, with random durations.
    @Test func bucketsEqualACountOfAllDurations() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let histogram = Histogram(.lag)
        let durations = (0..<2000).map { _ in pow(10, Double.random(in: -5...5, using: &random)) }
        for duration in durations { histogram.observe(.seconds(duration)) }
        let values = histogram.values
        for (position, bound) in values.bounds.enumerated() {
            #expect(values.buckets[position] == durations.count { $0 <= bound }, "seed \(seed), bound \(bound)")
        }
        #expect(abs(values.sum - durations.reduce(0, +)) < 1, "seed \(seed)")
    }

    /// A clock that was set may cause lags of decades. A sum that wraps would be negative.
    @Test func theSumStaysAtItsMaximum() {
        let histogram = Histogram(.lag)
        for _ in 0..<9 { histogram.observe(.seconds(1 << 31)) }
        #expect(histogram.values.count == 9 && histogram.values.sum > 9.2e9)
    }

    @Test func concurrentObservationsAreAllCounted() async {
        let histogram = Histogram(.request)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 { histogram.observe(.milliseconds(task * 40), trace: task == 0 ? "a" : nil) }
                }
            }
        }
        #expect(histogram.values.count == 8000)
        #expect(histogram.values.exemplars.compactMap { $0?.trace } == ["a"])
    }

    @Test func theLastExemplarOfABucketIsKept() throws {
        let histogram = Histogram(.request)
        histogram.observe(.milliseconds(1), trace: "first")
        histogram.observe(.milliseconds(2), trace: "second")
        histogram.observe(.milliseconds(3))
        let exemplar = try #require(histogram.values.exemplars[0])
        #expect(exemplar.trace == "second" && exemplar.value == 0.002)
    }
}
