package import SignalboxStore

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

    /// One value of a metric.
    package enum Value: Sendable {
        /// The value of a counter or a gauge. Counts are exact up to 2^53.
        case number(Double)
        /// The distribution of a histogram.
        case histogram(Histogram.Values)
    }

    /// The name on the metrics page.
    package let name: String
    /// One sentence.
    package let help: String
    /// The type of all points.
    package let kind: Kind
    /// One for each combination of labels, which have names and values; no metric is sent without a point.
    package let points: [(labels: [(name: String, value: String)], value: Value)]

    /// `points`: of the kind of the metric.
    package init(
        _ name: String, _ help: String, _ kind: Kind, points: [(labels: [(name: String, value: String)], value: Value)]
    ) { (self.name, self.help, self.kind, self.points) = (name, help, kind, points) }
}
