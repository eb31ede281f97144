import Foundation
import SignalboxConfig
import SignalboxTesting
import Testing

@testable import SignalboxGateway
@testable import SignalboxStore

/// The requests as JSON. `make test` reads the recorded ones with the reference library.
@Suite struct OTLPTests {
    private let resource: OTLPResource
    private let begun = Date(timeIntervalSince1970: 1_795_210_140.123)
    private let ended = Date(timeIntervalSince1970: 1_795_210_140.5)

    init() throws {
        var options = GatewayConfig.Telemetry()
        options.endpoint = "http://a.example"
        options.serviceName = "pushes"
        let resolver = SecretResolver(
            path: "routes.json", environment: ["OTEL_RESOURCE_ATTRIBUTES": "team=a%22b,service.version=0"])
        resource = OTLPResource(
            try #require(try resolver.telemetry(options)), gateway: "demo", version: "1.2")
    }

    private func json(_ bytes: [UInt8], _ kind: String) throws -> [String: Any] {
        OTLPRecorder.record(bytes, as: kind)
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    /// The only element of nested arrays and objects.
    private func value(_ root: Any?, _ path: String...) throws -> [String: Any] {
        var found = root
        for key in path {
            found = (found as? [String: Any])?[key]
            if let array = found as? [Any] {
                #expect(array.count == 1)
                found = array.first
            }
        }
        return try #require(found as? [String: Any])
    }

    @Test func writesASpan() throws {
        let parent = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let context = parent.child()
        var span = TraceSpan(context, "POST", .client, from: begun, to: ended)
        span.parent = parent.spanID
        span.state = "a=1"
        span.attributes = [.init("server.address", "crm.example"), .init("http.response.status_code", 503)]
        span.links = [parent]
        span.fail("503")
        let root = try json(resource.traces([span]), "traces")
        let written = try value(root, "resourceSpans", "scopeSpans", "spans")
        #expect(written["traceId"] as? String == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(written["spanId"] as? String == context.spanID.description)
        #expect(written["parentSpanId"] as? String == "00f067aa0ba902b7" && written["traceState"] as? String == "a=1")
        #expect(written["name"] as? String == "POST" && written["kind"] as? Int == 3)
        #expect(written["startTimeUnixNano"] as? String == "1795210140123000000")
        #expect(written["endTimeUnixNano"] as? String == "1795210140500000000")
        #expect(try value(written, "status")["code"] as? Int == 2)
        #expect(try value(written, "links")["spanId"] as? String == "00f067aa0ba902b7")
        let attributes = try #require(written["attributes"] as? [[String: Any]])
        #expect(
            attributes.map { $0["key"] as? String } == ["server.address", "http.response.status_code", "error.type"])
        #expect(try value(attributes[1], "value")["intValue"] as? String == "503")
        #expect(try value(attributes[2], "value")["stringValue"] as? String == "503")
    }

    @Test func aSpanThatSucceededHasNoStatus() throws {
        let root = try json(
            resource.traces([TraceSpan(.root(), "create", .producer, from: begun, to: ended)]), "traces")
        let written = try value(root, "resourceSpans", "scopeSpans", "spans")
        #expect(written["kind"] as? Int == 4)
        for key in ["status", "links", "parentSpanId", "traceState"] { #expect(written[key] == nil) }
    }

    @Test func describesTheProcess() throws {
        let root = try json(resource.traces([TraceSpan(.root(), "x", .server, from: begun, to: ended)]), "traces")
        let attributes = try #require(try value(root, "resourceSpans", "resource")["attributes"] as? [[String: Any]])
        let values = Dictionary(
            uniqueKeysWithValues: attributes.map {
                ($0["key"] as? String ?? "", ($0["value"] as? [String: Any])?["stringValue"] as? String)
            })
        #expect(values["service.name"] == "pushes" && values["service.version"] == "1.2" && values["team"] == "a\"b")
        #expect(values["signalbox.gateway"] == "demo" && values["service.instance.id"]??.count == 36)
        #expect(try value(root, "resourceSpans", "scopeSpans", "scope")["name"] as? String == "signalbox")
    }

    @Test func writesCountersAndGauges() throws {
        let readings = [
            MetricReading(
                "signalbox_events_received_total", "Events.", .counter,
                points: [(labels: [("source", "mobile")], value: .number(9_007_199_254_740_992))]),
            MetricReading("signalbox_queue_bytes", "Bytes.", .gauge, points: [(labels: [], value: .number(1.5))]),
            MetricReading("signalbox_empty", "No point.", .gauge, points: []),
            MetricReading("signalbox_odd", "No number.", .gauge, points: [(labels: [], value: .number(.nan))]),
        ]
        let root = try json(try #require(resource.metrics(readings, from: begun, at: ended)), "metrics")
        let metrics = try #require(
            try value(root, "resourceMetrics", "scopeMetrics")["metrics"] as? [[String: Any]])
        #expect(metrics.map { $0["name"] as? String } == ["signalbox_events_received_total", "signalbox_queue_bytes"])
        let sum = try value(metrics[0], "sum")
        #expect(sum["isMonotonic"] as? Bool == true && sum["aggregationTemporality"] as? Int == 2)
        let point = try value(sum, "dataPoints")
        #expect(point["asInt"] as? String == "9007199254740992")
        #expect(point["startTimeUnixNano"] as? String == "1795210140123000000")
        #expect(try value(point, "attributes")["key"] as? String == "source")
        let gauge = try value(metrics[1], "gauge", "dataPoints")
        #expect(gauge["asDouble"] as? Double == 1.5 && gauge["startTimeUnixNano"] == nil)
        #expect(metrics[1]["unit"] as? String == "By" && metrics[0]["unit"] as? String == "1")
    }

    @Test func writesHistogramsWithExemplars() throws {
        let trace = TraceContext.root().traceID.description
        let values = Histogram.Values(
            bounds: [0.1, 1], buckets: [3, 5, 6], sum: 4.25,
            exemplars: [nil, .init(trace: trace, value: 0.5, at: ended), nil])
        let reading = MetricReading(
            "signalbox_delivery_attempt_duration_seconds", "Durations.", .histogram,
            points: [(labels: [], value: .histogram(values))])
        let root = try json(try #require(resource.metrics([reading], from: begun, at: ended)), "metrics")
        let metric = try value(root, "resourceMetrics", "scopeMetrics", "metrics")
        #expect(metric["unit"] as? String == "s")
        let point = try value(metric, "histogram", "dataPoints")
        #expect(point["count"] as? String == "6" && point["sum"] as? Double == 4.25)
        #expect(point["bucketCounts"] as? [String] == ["3", "2", "1"])
        #expect(point["explicitBounds"] as? [Double] == [0.1, 1])
        let exemplar = try value(point, "exemplars")
        #expect(exemplar["traceId"] as? String == trace && exemplar["asDouble"] as? Double == 0.5)
    }

    @Test func sendsNoEmptyEnvelope() {
        #expect(resource.metrics([], from: begun, at: ended) == nil)
        let empty = MetricReading("signalbox_empty", "No point.", .gauge, points: [])
        #expect(resource.metrics([empty], from: begun, at: ended) == nil)
    }
}
