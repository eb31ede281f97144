import Foundation
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct MetricPageTests {
    private func text(
        _ metric: Metric, _ samples: [Metric.Sample], isOpenMetrics: Bool = false
    ) -> String {
        var page = MetricPage(isOpenMetrics: isOpenMetrics)
        page.write(metric, samples)
        page.end()
        return String(decoding: page.bytes, as: UTF8.self)
    }

    private func metric(
        _ name: String, _ kind: Metric.Kind, _ labels: [String], _ help: String = "Help."
    ) -> Metric {
        Metric(name, kind, labels, help, samples: { _ in [] })
    }

    @Test func labelsHaveTheOrderOfTheDeclaration() {
        let page = text(metric("x_total", .counter, ["b", "a"]), [.init(["1", "2"], 3), .init(["3", "4"], 0.25)])
        #expect(
            page
                == "# HELP x_total Help.\n# TYPE x_total counter\nx_total{b=\"1\",a=\"2\"} 3\nx_total{b=\"3\",a=\"4\"} 0.25\n"
        )
    }

    @Test func aMetricWithoutSamplesKeepsItsDescription() {
        #expect(text(metric("x", .gauge, []), []) == "# HELP x Help.\n# TYPE x gauge\n")
    }

    /// Route names are arbitrary text.
    @Test(arguments: [
        ("plain é", "plain é"), (#"a"b\c"#, #"a\"b\\c"#), ("line\nend", #"line\nend"#), ("\u{1B}[31m", #"\\x1b[31m"#),
        ("\u{0}\r\u{7F}", #"\\x00\\x0d\\x7f"#), ("", ""),
    ])
    func valuesOfLabelsAreEscaped(_ label: String, _ expected: String) {
        #expect(text(metric("x", .gauge, ["l"]), [.init([label], 1)]).hasSuffix("x{l=\"\(expected)\"} 1\n"))
    }

    @Test func helpIsEscapedAsItsFormatRequires() {
        let metric = metric("x", .gauge, [], "a \\ b \"c\"\nd")
        #expect(text(metric, []).hasPrefix("# HELP x a \\\\ b \"c\"\\nd\n"))
        #expect(text(metric, [], isOpenMetrics: true).hasPrefix("# HELP x a \\\\ b \\\"c\\\"\\nd\n"))
    }

    @Test func openMetricsNamesFamiliesWithoutSuffixAndEndsWithAMark() {
        #expect(
            text(metric("x_seconds_total", .counter, []), [.init([], 1)], isOpenMetrics: true)
                == "# HELP x_seconds Help.\n# TYPE x_seconds counter\n# UNIT x_seconds seconds\nx_seconds_total 1\n# EOF\n"
        )
        #expect(
            text(metric("x_info", .info, ["v"]), [.init(["1"], 1)], isOpenMetrics: true)
                == "# HELP x Help.\n# TYPE x info\nx_info{v=\"1\"} 1\n# EOF\n")
        #expect(text(metric("x_info", .info, ["v"]), [.init(["1"], 1)]).contains("# TYPE x_info gauge\n"))
    }

    @Test func aHistogramHasCumulativeBucketsItsSumAndItsCount() {
        let histogram = Histogram(.request)
        for milliseconds in [5, 6, 300, 11_000] { histogram.observe(.milliseconds(milliseconds)) }
        let page = text(metric("x_seconds", .histogram, ["l"]), [.init(["1"], histogram)])
        let lines = page.split(separator: "\n").map(String.init)
        #expect(lines[1] == "# TYPE x_seconds histogram")
        #expect(lines[2] == "x_seconds_bucket{l=\"1\",le=\"0.005\"} 1")
        #expect(lines[3] == "x_seconds_bucket{l=\"1\",le=\"0.01\"} 2")
        #expect(lines[15] == "x_seconds_bucket{l=\"1\",le=\"10.0\"} 3")
        #expect(lines[16] == "x_seconds_bucket{l=\"1\",le=\"+Inf\"} 4")
        #expect(lines[17] == "x_seconds_sum{l=\"1\"} 11.311")
        #expect(lines[18] == "x_seconds_count{l=\"1\"} 4")
        #expect(lines.count == 19)
    }

    @Test func onlyOpenMetricsShowsExemplars() {
        let histogram = Histogram(.request)
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        histogram.observe(.milliseconds(30), trace: trace)
        let metric = metric("x_seconds", .histogram, [])
        let page = text(metric, [.init([], histogram)], isOpenMetrics: true)
        #expect(page.contains("x_seconds_bucket{le=\"0.05\"} 1 # {trace_id=\"\(trace)\"} 0.03 "))
        #expect(page.matches(of: /trace_id/).count == 1)
        #expect(!text(metric, [.init([], histogram)]).contains("trace_id"))
    }

    @Test(
        arguments: [
            (nil, nil, false, false), ("*/*", "gzip", false, true), ("text/plain", "identity", false, false),
            (
                "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "gzip",
                true, true
            ),
            ("application/openmetrics-text; version=\"0.0.1\"", "br, gzip;q=0.5", true, true),
            ("application/openmetrics-text;q=0.2, text/plain", "gzip;q=0", false, false),
            ("application/openmetrics-text;version=2.0.0", nil, false, false),
            ("application/openmetrics-text;q=0", nil, false, false),
            ("application/openmetrics-text;q=x", ";;", false, false),
        ] as [(String?, String?, Bool, Bool)])
    func theClientChoosesTheFormat(_ accept: String?, _ encoding: String?, _ isOpen: Bool, _ isCompressed: Bool) {
        let format = MetricFormat(accept: accept, encoding: encoding)
        #expect(format.isOpenMetrics == isOpen)
        #expect(format.isCompressed == isCompressed)
        #expect(
            format.contentType.hasPrefix(
                isOpen ? "application/openmetrics-text; version=1.0.0" : "text/plain; version=0.0.4"))
    }

    @Test func readsProcessesWhoseNameHasParentheses() {
        let fields = (3...24).map { "\($0)" }.joined(separator: " ")
        let values = ProcessValues(stat: "1 (a) b (c) \(fields)", bootTime: 1000)
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        #expect(values.cpuSeconds == (14 + 15) / ticks && values.threads == 20)
        #expect(values.startTime == 1000 + 22 / ticks && values.virtualBytes == 23)
        #expect(ProcessValues(stat: "1 (a", bootTime: nil).cpuSeconds == nil)
        #expect(ProcessValues(stat: "1 (a) R 2", bootTime: 1).startTime == nil)
    }

    @Test func readsThisProcess() throws {
        let values = ProcessValues.current
        let (open, most) = (try #require(values.openFiles), try #require(values.mostFiles))
        #expect(open >= 3 && open <= most)
        let (resident, threads) = (try #require(values.residentBytes), try #require(values.threads))
        #expect(resident > 1_048_576 && threads >= 1)
        let start = try #require(values.startTime)
        #expect(start > 1_600_000_000)
    }
}
