import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Writes metrics in the Prometheus text format 0.0.4, or in OpenMetrics 1.0.
struct MetricPage {
    /// The text so far, UTF-8.
    private(set) var bytes: [UInt8] = []
    /// Decides the names of families, units, exemplars and the mark at the end.
    private let isOpenMetrics: Bool

    /// All metrics of the registry with these values, in its order. Metrics without a sample keep their description.
    static func bytes(of values: MetricValues, isOpenMetrics: Bool) -> [UInt8] {
        var page = MetricPage(isOpenMetrics: isOpenMetrics)
        for metric in Metric.all { page.write(metric, metric.samples(values)) }
        page.end()
        return page.bytes
    }

    /// An empty page.
    init(isOpenMetrics: Bool) {
        self.isOpenMetrics = isOpenMetrics
        bytes.reserveCapacity(128 * 1024)
    }

    /// The description of a metric and its samples. Labels have the order of the declaration. Traps for a sample with
    /// another number of labels.
    mutating func write(_ metric: Metric, _ samples: [Metric.Sample]) {
        let family = family(of: metric)
        line("# HELP \(family) \(escapedHelp(metric.help))")
        line("# TYPE \(family) \(isOpenMetrics && metric.kind == .info ? "info" : metric.kind.word)")
        if isOpenMetrics, let unit = metric.unit { line("# UNIT \(family) \(unit)") }
        for sample in samples {
            precondition(sample.labels.count == metric.labels.count, "\(metric.name) has other labels.")
            let labels = zip(metric.labels, sample.labels).map { "\($0)=\"\(Self.escaped($1))\"" }
                .joined(separator: ",")
            switch sample.value {
            case .number(let number): line("\(metric.name)\(list(labels)) \(Self.number(number))")
            case .histogram(let values): write(values, of: metric.name, labels)
            }
        }
    }

    /// Buckets in ascending order, then the sum and the count. Buckets are cumulative, as both formats require, and the
    /// last bound is `+Inf`.
    private mutating func write(_ values: Histogram.Values, of name: String, _ labels: String) {
        let prefix = labels.isEmpty ? "" : labels + ","
        for (position, count) in values.buckets.enumerated() {
            let bound = position < values.bounds.count ? "\(values.bounds[position])" : "+Inf"
            line("\(name)_bucket{\(prefix)le=\"\(bound)\"} \(count)\(exemplar(values.exemplars[position]))")
        }
        line("\(name)_sum\(list(labels)) \(values.sum)")
        line("\(name)_count\(list(labels)) \(values.count)")
    }

    /// The Prometheus text format has no exemplars. At most one for each bucket: its trace, its value, and its Unix
    /// time in seconds.
    private func exemplar(_ exemplar: Histogram.Exemplar?) -> String {
        guard isOpenMetrics, let exemplar else { return "" }
        let time = Double(Timestamp(exemplar.at).milliseconds) / 1000
        return " # {trace_id=\"\(Self.escaped(exemplar.trace))\"} \(exemplar.value) \(time)"
    }

    /// OpenMetrics ends with a mark, so that a client recognises a page that was cut off.
    mutating func end() { if isOpenMetrics { line("# EOF") } }

    /// In OpenMetrics, the suffix belongs to the samples of counters and infos, not to the family.
    private func family(of metric: Metric) -> String {
        guard isOpenMetrics else { return metric.name }
        return switch metric.kind {
        case .counter: String(metric.name.dropLast("_total".count))
        case .info: String(metric.name.dropLast("_info".count))
        case .gauge, .histogram: metric.name
        }
    }

    private mutating func line(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Empty without labels: both formats permit no braces then.
    private func list(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    /// Escapes backslash and line feed, and in OpenMetrics the quotation mark too.
    private func escapedHelp(_ help: String) -> String {
        let text = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return isOpenMetrics ? text.replacing("\"", with: "\\\"") : text
    }

    /// Whole numbers below 10^15 have no fraction. Counts up to 2^53 are exact.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    /// Names of routes are arbitrary text. Escapes backslash, quotation mark and line feed, as both formats require.
    /// Writes other control characters as `\x1b`, because pages are also read in terminals.
    static func escaped(_ label: String) -> String {
        guard label.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x7F }) else { return label }
        var text = ""
        for scalar in label.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                text += "\\\\x" + (digits.count == 1 ? "0" : "") + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
