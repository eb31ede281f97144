import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// A metric. The metrics page and the reference page derive from its declaration. One sample for each combination of
/// labels.
package struct Metric: Sendable {
    /// The type of a metric.
    package enum Kind: String, Sendable {
        /// The types of the Prometheus text format, by its own words.
        case counter, gauge, histogram
        /// A constant with facts in its labels; a gauge in the Prometheus text format.
        case info

        /// The word of the Prometheus text format.
        package var word: String { self == .info ? Kind.gauge.rawValue : rawValue }
    }

    /// The values of one combination of labels.
    struct Sample: Sendable {
        /// In the order of ``Metric/labels``.
        let labels: [String]
        let value: MetricReading.Value

        init(_ labels: [String], _ number: Double) { (self.labels, value) = (labels, .number(number)) }
        init(_ labels: [String], _ number: Int) { self.init(labels, Double(number)) }
        /// Copies the counts at the time of the call.
        init(_ labels: [String], _ histogram: Histogram) {
            (self.labels, value) = (labels, .histogram(histogram.values))
        }
    }

    /// Ends in `_total` for counters.
    package let name: String
    /// Counters start at 0 with the process or with the queue. A counter of the queue survives restarts; a counter of
    /// the process does not, which Prometheus treats as a reset.
    package let kind: Kind
    /// Names of the labels, whose values are names of the config or listed in the reference.
    package let labels: [String]
    /// One sentence.
    package let help: String
    /// `samples` is called for each page, on the task of the request, and must not block.
    let samples: @Sendable (MetricValues) -> [Sample]

    /// `help`: also the text of the reference page. `samples`: each has as many labels as the metric.
    init(
        _ name: String, _ kind: Kind, _ labels: [String], _ help: String,
        samples: @escaping @Sendable (MetricValues) -> [Sample]
    ) { (self.name, self.kind, self.labels, self.help, self.samples) = (name, kind, labels, help, samples) }

    /// A metric of numbers.
    init(
        _ name: String, _ kind: Kind, _ labels: [String], _ help: String,
        _ samples: @escaping @Sendable (MetricValues) -> [([String], Double)]
    ) {
        self.init(name, kind, labels, help, samples: { samples($0).map { Sample($0.0, $0.1) } })
    }

    /// The unit that the name ends with, as OpenMetrics names it; nil for none.
    package var unit: String? {
        let family = kind == .counter ? String(name.dropLast("_total".count)) : name
        return ["seconds", "bytes"].first { family.hasSuffix("_" + $0) }
    }

    /// A metric without labels.
    static func single(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (MetricValues) -> Double
    ) -> Metric {
        Metric(name, kind, [], help) { [([], value($0))] }
    }

    /// A gauge without labels.
    static func single(
        _ name: String, _ help: String, _ value: @escaping @Sendable (MetricValues) -> Double
    ) -> Metric { single(name, .gauge, help, value) }

    /// A gauge without labels that has no sample while its value is unknown.
    static func optional(
        _ name: String, _ help: String, _ value: @escaping @Sendable (MetricValues) -> Double?
    ) -> Metric {
        Metric(name, .gauge, [], help) { values in value(values).map { [([], $0)] } ?? [] }
    }

    /// One sample for each destination of the config or the queue, even if its value is 0, and one for `other` if there
    /// are more; none while the queue cannot be read. For values that can be summed. `value`: of the counts, at the
    /// time of the queue's clock.
    static func perDestination(
        _ name: String, _ kind: Kind, _ help: String,
        _ value: @escaping @Sendable (DestinationGauges, Date) -> Double
    ) -> Metric {
        Metric(name, kind, ["destination"], help) { values in
            guard let gauges = values.queue?.gauges else { return [] }
            let counted = MetricValues.counted(values.destinations, gauges)
            return counted.map { ([$0.name], value(gauges[$0] ?? DestinationGauges(), values.now)) }
        }
    }

    /// A counter since the start of the process. Routes that a reload removes disappear from the page; those that
    /// stay keep their counts.
    static func perRoute(
        _ name: String, _ help: String, _ value: @escaping @Sendable (RouteCounts.Count) -> Int
    ) -> Metric {
        Metric(name, .counter, ["route"], help) { $0.routes.map { ([$0.name], Double(value($0.count))) } }
    }

    /// A counter since the start of the process, with a sample for each series of a table.
    static func perSeries<Key>(
        _ name: String, _ labels: [String], _ help: String,
        _ table: @escaping @Sendable (MetricValues) -> SeriesTable<Key, Counter>,
        _ values: @escaping @Sendable (Key) -> [String]
    ) -> Metric {
        Metric(
            name, .counter, labels, help,
            samples: { all in sorted(table(all).all.map { Sample(values($0.key), $0.series.value) }) })
    }

    /// Samples of a table, in the order of their labels, so that two pages can be compared.
    static func sorted(_ samples: [Sample]) -> [Sample] {
        samples.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    /// Every metric, in the order of the page.
    package static let all: [Metric] =
        events + deliveries + destinations + requests + gateway + providers + forwarding + inApp + fleet + process
}
