import SignalboxGateway
import SignalboxStore

extension MetricValues {
    /// All metrics of the registry, for the exporter.
    var readings: [MetricReading] {
        Metric.all.map { metric in
            let points = metric.samples(self).map { sample in
                let labels = zip(metric.labels, sample.labels).map { (name: $0, value: $1) }
                return switch sample.value {
                case .number(let number): MetricReading.Point(labels: labels, value: number)
                case .histogram(let values): MetricReading.Point(labels: labels, values)
                }
            }
            return MetricReading(metric.name, metric.help, metric.kind.ofReading, points: points)
        }
    }
}

extension Metric.Kind {
    /// An info is a gauge with the value 1, because OTLP has no such type.
    fileprivate var ofReading: MetricReading.Kind {
        switch self {
        case .counter: .counter
        case .gauge, .info: .gauge
        case .histogram: .histogram
        }
    }
}

extension MetricReading.Point {
    /// The buckets of the page are cumulative, those of a reading are not.
    fileprivate init(labels: [(name: String, value: String)], _ values: Histogram.Values) {
        var former = 0
        let counts = values.buckets.map { count in
            defer { former = count }
            return UInt64(max(0, count - former))
        }
        self.init(
            labels: labels, bounds: values.bounds, counts: counts, sum: values.sum,
            exemplars: values.exemplars.compactMap { exemplar in
                exemplar.map { MetricReading.Exemplar(value: $0.value, trace: $0.trace, time: $0.at) }
            })
    }
}
