import SignalboxGateway

extension MetricValues {
    /// All metrics of the registry, for the exporter.
    var readings: [MetricReading] {
        Metric.all.map { metric in
            let points = metric.samples(self).map { sample in
                (labels: zip(metric.labels, sample.labels).map { (name: $0, value: $1) }, value: sample.value)
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
