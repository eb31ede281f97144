package import Foundation

/// The values of one metric at one time, as the exporter sends them.
package struct MetricReading: Sendable {
    /// The types of metrics.
    package enum Kind: Sendable {
        /// Sums since the start of the process, which never decrease.
        case counter
        /// Present values.
        case gauge
        /// Distributions since the start of the process.
        case histogram
    }

    /// The name on the metrics page.
    package let name: String
    /// One sentence.
    package let help: String
    /// The type of all points.
    package let kind: Kind
    /// One for each combination of labels; no metric is sent without one.
    package let points: [Point]

    /// `points`: of the kind of the metric.
    package init(_ name: String, _ help: String, _ kind: Kind, points: [Point]) {
        (self.name, self.help, self.kind, self.points) = (name, help, kind, points)
    }

    /// A value, or a distribution of values, with its labels.
    package struct Point: Sendable {
        /// Names and values, in the order of the declaration.
        package let labels: [(name: String, value: String)]
        /// The value of a counter or gauge; the sum of a histogram's values.
        package let value: Double
        /// Upper bounds of a histogram's buckets, inclusive and ascending; empty for other kinds.
        package let bounds: [Double]
        /// The number of values of each bucket, not accumulated; the last one is beyond all bounds.
        package let counts: [UInt64]
        /// Values whose trace is exported; for histograms only.
        package let exemplars: [Exemplar]

        /// The value of a counter or a gauge.
        package init(labels: [(name: String, value: String)], value: Double) {
            (self.labels, self.value) = (labels, value)
            (bounds, counts, exemplars) = ([], [], [])
        }

        /// A histogram. `counts`: one more than `bounds`.
        package init(
            labels: [(name: String, value: String)], bounds: [Double], counts: [UInt64], sum: Double,
            exemplars: [Exemplar] = []
        ) {
            precondition(counts.count == bounds.count + 1, "A histogram has a bucket for each bound, and one beyond.")
            (self.labels, self.bounds, self.counts) = (labels, bounds, counts)
            (value, self.exemplars) = (sum, exemplars)
        }
    }

    /// One observed value and the trace in which it was observed.
    package struct Exemplar: Sendable {
        package let value: Double
        /// 32 hexadecimal digits in lower case.
        package let trace: String
        package let time: Date

        package init(value: Double, trace: String, time: Date) {
            (self.value, self.trace, self.time) = (value, trace, time)
        }
    }
}
