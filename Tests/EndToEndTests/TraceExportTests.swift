import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// The export of traces and metrics, on the built binary.
@Suite(.timeLimit(.minutes(3))) struct TraceExportTests {
    @Test func deliveriesContinueWhileTheCollectorIsDown() async throws {
        let port = try await ReceivingServer.run { $0.address.port }
        let more = #""telemetry": {"endpoint": "http://127.0.0.1:\#(port)", "interval": "1s"},"#
        try await Gateway.run(config: more) { gateway, receiver, _ in
            let batch = Data(String(repeating: #"{"aps":{"alert":"Hi"}}"# + "\n", count: 5000).utf8)
            let answer = try await gateway.post(batch, headers: [("traceparent", TraceSetting.parent)])
            #expect(answer.status == 202)
            #expect(await receiver.next(5000).count == 5000)
        }
    }

    @Test func aCollectorThatHangsOrRefusesDelaysNoDelivery() async throws {
        let statuses = Mutex([400, 429, 503])
        let answer: @Sendable (WebhookReceiver.Message) async -> Int = { message in
            guard message.path == "/hooks/v1/traces" else { return 200 }
            if let status = statuses.withLock({ $0.popLast() }) { return status }
            return await TraceSetting.silence()
        }
        try await TraceSetting.run(collector: answer) { gateway, receiver, collector in
            for _ in 1...3 {
                #expect(
                    try await gateway.post(TraceSetting.payload, headers: [("traceparent", TraceSetting.parent)]).status
                        == 202)
                #expect(await receiver.next().count == 1)
            }
            // The batch is repeated after 503 and 429, and dropped after 400.
            var batches: [[String]] = []
            while batches.count < 3 {
                let spans = try await TraceSetting.spans(1, of: collector)
                batches.append(spans.compactMap { $0["spanId"] as? String })
            }
            #expect(Set(batches).count == 1)
            #expect(
                try await gateway.post(TraceSetting.payload, headers: [("traceparent", TraceSetting.parent)]).status
                    == 202)
            #expect(await receiver.next().count == 1)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func everyExportedMetricIsOnTheMetricsPage() async throws {
        try await TraceSetting.run { gateway, _, collector in
            var names: Set<String> = []
            while names.isEmpty {
                let message = try #require(await collector.next().first)
                let request = try Decompression.gunzip(message.body, upTo: 16 << 20)
                OTLPRecorder.record(request, as: message.path == "/hooks/v1/metrics" ? "metrics" : "traces")
                guard message.path == "/hooks/v1/metrics" else { continue }
                names = Set(
                    String(decoding: request, as: UTF8.self).split(separator: "\"").map(String.init)
                        .filter { $0.hasPrefix("signalbox_") })
            }
            let page = try await gateway.get("/metrics", keeping: 1 << 20).text
            #expect(names.allSatisfy { page.contains("# TYPE \($0) ") })
            #expect(names.contains("signalbox_destination_up"))
            #expect(await gateway.stop() == 0)
        }
    }

    /// For requests without the router, with the router, and to a provider endpoint.
    @Test(arguments: ["/v1/notifications", "router", "apns"])
    func exemplarsNameExportedTraces(_ door: String) async throws {
        try await TraceSetting.run { gateway, receiver, collector in
            let device = "/3/device/" + String(repeating: "0123456789abcdef", count: 4)
            let path = door == "apns" ? device : "/v1/notifications"
            let other: TraceSetting.Headers =
                switch door {
                case "router": [("idempotency-key", "once")]
                case "apns": [("apns-topic", "com.example.app")]
                default: []
                }
            let answer = try await gateway.post(
                TraceSetting.payload, to: path, headers: [("traceparent", TraceSetting.parent)] + other)
            #expect(answer.status == (door == "apns" ? 200 : 202))
            _ = await receiver.next()
            let exported = Set(try await TraceSetting.spans(3, of: collector).compactMap { $0["traceId"] as? String })
            let reply = try await Reply(
                gateway.url + "/metrics", "-H", "accept: application/openmetrics-text;version=1.0.0")
            let page = String(decoding: reply.body, as: UTF8.self)
            let lines = page.split(separator: "\n").filter { $0.contains("# {trace_id=\"\(TraceSetting.trace)\"}") }
            #expect(exported.contains(TraceSetting.trace) && page.hasSuffix("# EOF\n"))
            for name in ["http_request_duration_seconds", "delivery_attempt_duration_seconds", "delivery_lag_seconds"] {
                #expect(lines.contains { $0.hasPrefix("signalbox_\(name)_bucket{") }, "\(name)")
            }
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func theCollectorNeedsPermission() async throws {
        try await withTemporaryDirectory { directory in
            let config = """
                { "telemetry": { "endpoint": "http://127.0.0.1:9", "interval": "1s", "ratio": 1 },
                  "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "all", "match": {}, "to": ["inbox"] } ] }
                """
            let gateway = try await Gateway.start(in: directory, config: config)
            #expect(try await gateway.post(TraceSetting.payload).status == 202)
            for await line in gateway.process.errors.stream where line.contains("Telemetry export failing.") {
                #expect(line.contains("address denied"))
                break
            }
            #expect(await gateway.stop() == 0)
        }
    }
}
