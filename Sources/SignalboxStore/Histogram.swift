package import Foundation
import Synchronization

/// Counts durations by size. Any thread may observe without waiting; an observation costs two atomic operations.
///
/// A page that is read meanwhile may have a duration in ``Values/buckets`` and not yet in ``Values/sum``.
package final class Histogram: Sendable {
    // A class because several owners share it: the code that measures, and the metrics.
    /// Upper bounds in seconds, which belong to their bucket.
    package enum Bounds: Sendable {
        /// 5 ms to 10 s, as OpenTelemetry's semantic conventions advise for durations of requests.
        case request
        /// 5 ms to an hour.
        case lag

        /// Ascending, without the infinite one.
        package var seconds: [Double] {
            let request = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
            return switch self {
            case .request: request
            case .lag: request + [30, 60, 300, 900, 3600]
            }
        }
    }

    /// One observed duration with the trace that it belongs to (OpenMetrics 1.0, "Exemplars").
    package struct Exemplar: Sendable, Equatable {
        /// 32 lower-case hexadecimal digits.
        package let trace: String
        /// Seconds.
        package let value: Double
        /// When it was observed, by the wall clock.
        package let at: Date
    }

    /// The counts at one time.
    package struct Values: Sendable, Equatable {
        /// Upper bounds in seconds, without the infinite one.
        package let bounds: [Double]
        /// Cumulative: durations up to each bound, then all of them.
        package let buckets: [Int]
        /// The sum of all durations, in seconds; at most 292 years.
        package let sum: Double
        /// The last one of each bucket; nil for a bucket without a trace.
        package let exemplars: [Exemplar?]

        /// All observed durations.
        package var count: Int { buckets.last ?? 0 }
    }

    private let bounds: [Double]
    /// The same bounds in nanoseconds, so that an observation compares integers.
    private let limits: [Int64]
    /// One for each bound, then one for longer durations.
    private let buckets: [Counter]
    private let nanoseconds = Counter()
    private let exemplars: Mutex<[Exemplar?]>

    /// Starts without durations.
    package init(_ bounds: Bounds) {
        let seconds = bounds.seconds
        self.bounds = seconds
        limits = seconds.map { Int64(($0 * 1e9).rounded()) }
        buckets = (0...seconds.count).map { _ in Counter() }
        exemplars = Mutex(Array(repeating: nil, count: seconds.count + 1))
    }

    /// Counts a duration; a negative one counts as 0. `trace`: the id of a sampled trace, which the bucket then shows;
    /// takes a lock.
    package func observe(_ duration: Duration, trace: String? = nil) {
        let (seconds, attoseconds) = duration.components
        let time = max(0, min(max(seconds, -1), 1 << 30) * 1_000_000_000 + attoseconds / 1_000_000_000)
        let bucket = limits.firstIndex { time <= $0 } ?? limits.count
        buckets[bucket].add()
        nanoseconds.addUpToMax(Int(time))
        guard let trace else { return }
        let exemplar = Exemplar(trace: trace, value: Double(time) / 1e9, at: Date())
        exemplars.withLock { $0[bucket] = exemplar }
    }

    /// The counts at this time.
    package var values: Values {
        var total = 0
        let cumulative = buckets.map { bucket in
            total += bucket.value
            return total
        }
        return Values(
            bounds: bounds, buckets: cumulative, sum: Double(nanoseconds.value) / 1e9,
            exemplars: exemplars.withLock { $0 })
    }
}
