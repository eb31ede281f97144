import Foundation
import SignalboxJSON
import SignalboxStore

extension OTLPResource {
    /// An `ExportMetricsServiceRequest`; nil without a data point. `start`: the beginning of the process. Values that
    /// JSON cannot express are left out.
    func metrics(_ readings: [MetricReading], from start: Date, at now: Date) -> [UInt8]? {
        let readings = readings.compactMap { reading in
            let points = reading.points.filter(\.value.isFinite)
            return points.isEmpty ? nil : MetricReading(reading.name, reading.help, reading.kind, points: points)
        }
        guard !readings.isEmpty else { return nil }
        return request("resourceMetrics", "scopeMetrics", "metrics") { json in
            for reading in readings { json.metric(reading, from: start, at: now) }
        }
    }
}

extension MetricReading.Value {
    /// Whether JSON can express the number, or the sum of the histogram.
    fileprivate var isFinite: Bool {
        switch self {
        case .number(let number): number.isFinite
        case .histogram(let values): values.sum.isFinite
        }
    }
}

extension MetricReading {
    /// The unit in UCUM, from the end of the name.
    fileprivate var unit: String {
        let name = name.hasSuffix("_total") ? name.dropLast(6) : name[...]
        if name.hasSuffix("_seconds") { return "s" }
        return name.hasSuffix("_bytes") ? "By" : "1"
    }
}

extension JSONWriter {
    /// Source: opentelemetry/proto/metrics/v1/metrics.proto, `Metric`
    fileprivate mutating func metric(_ reading: MetricReading, from start: Date, at now: Date) {
        beginObject()
        member("name", reading.name)
        member("description", reading.help)
        member("unit", reading.unit)
        switch reading.kind {
        case .counter:
            object("sum") { json in
                json.points(reading, from: start, at: now)
                json.cumulative()
                json.member("isMonotonic", true)
            }
        case .gauge: object("gauge") { $0.points(reading, from: nil, at: now) }
        case .histogram:
            object("histogram") { json in
                json.points(reading, from: start, at: now)
                json.cumulative()
            }
        }
        endObject()
    }

    /// AGGREGATION_TEMPORALITY_CUMULATIVE.
    private mutating func cumulative() { member("aggregationTemporality", 2) }

    private mutating func points(_ reading: MetricReading, from start: Date?, at now: Date) {
        objects("dataPoints", of: reading.points) { json, point in
            if !point.labels.isEmpty { json.array("attributes", of: point.labels) { $0.attribute($1.name, $1.value) } }
            if let start { json.member("startTimeUnixNano", nanosecondsOf: start) }
            json.member("timeUnixNano", nanosecondsOf: now)
            switch point.value {
            case .number(let number):
                if reading.kind == .counter, let whole = Int64(exactly: number) {
                    json.member("asInt", String(whole))
                } else {
                    json.member("asDouble", double: number)
                }
            case .histogram(let values): json.histogram(values)
            }
        }
    }

    /// The buckets of `values` are cumulative, those of OTLP are not.
    private mutating func histogram(_ values: Histogram.Values) {
        member("count", String(values.count))
        member("sum", double: values.sum)
        member("bucketCounts", zip(values.buckets, [0] + values.buckets).map { String($0 - $1) })
        array("explicitBounds", of: values.bounds.lazy.filter(\.isFinite)) { $0.double($1) }
        let exemplars = values.exemplars.compactMap(\.self).filter(\.value.isFinite)
        guard !exemplars.isEmpty else { return }
        objects("exemplars", of: exemplars) { json, exemplar in
            json.member("timeUnixNano", nanosecondsOf: exemplar.at)
            json.member("asDouble", double: exemplar.value)
            json.member("traceId", exemplar.trace)
        }
    }
}
