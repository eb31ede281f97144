import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// Traces, on the built binary. Numbers are those of the scenarios of observability.
@Suite(.timeLimit(.minutes(3))) struct TraceTests {
    private typealias Headers = [(name: String, value: String)]

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)

    /// Runs a gateway that exports to a collector. `statuses`: of the webhook, the last one again and again.
    private func run(
        _ statuses: [Int] = [204], destination: String = "", telemetry: String = "",
        collector answer: @escaping @Sendable (WebhookReceiver.Message) async -> Int = { _ in 200 },
        _ body: @escaping @Sendable (Gateway, ReceivingServer, _ collector: ReceivingServer) async throws -> Void
    ) async throws {
        let rest = Mutex(statuses[...])
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(
                answer: { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 204 } }
            ) { receiver in
                try await ReceivingServer.run(answer: answer) { collector in
                    let more = #""telemetry": {"endpoint": "\#(collector.url)", "interval": "1s"\#(telemetry)},"#
                    let config = Gateway.config(to: receiver.url, more: more)
                        .replacing(#""timeout":"#, with: destination + #""timeout":"#)
                    let gateway = try await Gateway.start(in: directory, config: config)
                    try await body(gateway, receiver, collector)
                }
            }
        }
    }

    private func event(_ message: WebhookReceiver.Message) throws -> [String: Any] {
        EventRecorder.record(message.body)
        return try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
    }

    /// The spans of the next requests to a collector, until there are `count`.
    private func spans(_ count: Int, of collector: ReceivingServer) async throws -> [[String: Any]] {
        var spans: [[String: Any]] = []
        while spans.count < count {
            let message = try #require(await collector.next().first)
            let request = try Decompression.gunzip(message.body, upTo: 16 << 20)
            let isTraces = message.path == "/hooks/v1/traces"
            OTLPRecorder.record(request, as: isTraces ? "traces" : "metrics")
            guard isTraces else { continue }
            let json = try JSONSerialization.jsonObject(with: Data(request)) as? [String: Any]
            let scopes = (json?["resourceSpans"] as? [[String: Any]])?.first?["scopeSpans"] as? [[String: Any]]
            spans += try #require(scopes?.first?["spans"] as? [[String: Any]])
        }
        return spans
    }

    private func attributes(_ span: [String: Any]) -> [String: String] {
        let list = span["attributes"] as? [[String: Any]] ?? []
        return Dictionary(
            list.map { attribute in
                let value = attribute["value"] as? [String: Any]
                return (attribute["key"] as? String ?? "", value?.values.first as? String ?? "")
            }
        ) { first, _ in first }
    }

    /// Returns when the server is stopped.
    private static func silence() async -> Int {
        for await _ in AsyncStream<Int>.makeStream().stream {}
        return 200
    }

    private func context(_ message: WebhookReceiver.Message) throws -> TraceContext {
        try #require(message.header("traceparent").flatMap { TraceContext($0) })
    }

    /// A request with a key goes through the router, the other one does not.
    @Test(arguments: [nil, "once"])
    func scenario47FollowsARequestToItsWebhooks(_ key: String?) async throws {
        try await run([503, 204]) { gateway, receiver, collector in
            var headers: Headers = [("traceparent", Self.parent), ("tracestate", "vendor=x"), ("baggage", "user=1")]
            if let key { headers.append(("idempotency-key", key)) }
            #expect(try await gateway.post(payload, headers: headers).status == 202)
            let messages = await receiver.next(2)
            let contexts = try messages.map(context)
            #expect(contexts.allSatisfy { $0.traceID.description == Self.trace && $0.isSampled })
            #expect(contexts[0].spanID != contexts[1].spanID)
            for (message, context) in zip(messages, contexts) {
                #expect(message.header("tracestate") == "signalbox=\(context.spanID),vendor=x")
                #expect(message.header("baggage") == nil)
            }
            #expect(messages[0].body == messages[1].body)
            let event = try event(messages[0])
            let attribute = try #require((event["traceparent"] as? String).flatMap { TraceContext($0) })
            #expect(attribute.traceID.description == Self.trace && event["tracestate"] as? String == "vendor=x")

            let spans = try await spans(4, of: collector)
            #expect(spans.allSatisfy { $0["traceId"] as? String == Self.trace })
            let server = try #require(spans.first { $0["kind"] as? Int == 2 })
            let create = try #require(spans.first { $0["kind"] as? Int == 4 })
            let posts = spans.filter { $0["kind"] as? Int == 3 }
            #expect(server["name"] as? String == "POST /v1/notifications")
            #expect(server["parentSpanId"] as? String == "00f067aa0ba902b7")
            #expect(attributes(server)["http.response.status_code"] == "202")
            #expect(
                create["name"] as? String == "create"
                    && create["parentSpanId"] as? String == server["spanId"] as? String)
            #expect(create["spanId"] as? String == attribute.spanID.description)
            #expect(attributes(create)["messaging.message.id"] == event["id"] as? String)
            #expect(posts.map { $0["spanId"] as? String } == contexts.map(\.spanID.description))
            #expect(posts.allSatisfy { $0["parentSpanId"] as? String == attribute.spanID.description })
            let (first, second) = (attributes(posts[0]), attributes(posts[1]))
            #expect(first["error.type"] == "503" && first["http.request.resend_count"] == nil)
            #expect(second["error.type"] == nil && second["http.request.resend_count"] == "1")
            #expect(second["messaging.destination.name"] == "crm" && second["server.address"] == "127.0.0.1")
            #expect(await gateway.stop() == 0)
        }
    }

    @Test(arguments: [
        nil, "00-0-0-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", Self.parent + "-more",
    ])
    func scenario48ABadContextBeginsANewTrace(_ traceparent: String?) async throws {
        try await run { gateway, receiver, _ in
            var headers: Headers = [("tracestate", "vendor=x"), ("baggage", "user=1")]
            if let traceparent { headers.append(("traceparent", traceparent)) }
            let (status, receipt) = try await gateway.post(payload, headers: headers)
            #expect(status == 202)
            let message = try #require(await receiver.next().first)
            let id = try #require(receipt["id"] as? String)
            #expect(try context(message).traceID.description == id.replacing("-", with: ""))
            #expect(try !context(message).isSampled)
            #expect(message.header("tracestate") == nil && message.header("baggage") == nil)
            let event = try event(message)
            #expect(event["traceparent"] == nil && event["tracestate"] == nil)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func aRepeatedHeaderBeginsANewTrace() async throws {
        try await run { gateway, receiver, _ in
            let twice: Headers = [("traceparent", Self.parent), ("traceparent", Self.parent)]
            #expect(try await gateway.post(payload, headers: twice).status == 202)
            #expect(try event(try #require(await receiver.next().first))["traceparent"] == nil)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func tracesRequestsByTheRatio() async throws {
        try await run(telemetry: #", "ratio": 1"#) { gateway, receiver, collector in
            #expect(try await gateway.post(payload).status == 202)
            let message = try #require(await receiver.next().first)
            let attribute = try #require((try event(message)["traceparent"] as? String).flatMap { TraceContext($0) })
            #expect(try context(message).traceID == attribute.traceID && attribute.isSampled)
            let spans = try await spans(3, of: collector)
            #expect(spans.allSatisfy { $0["traceId"] as? String == attribute.traceID.description })
            #expect(try #require(spans.first { $0["kind"] as? Int == 2 })["parentSpanId"] == nil)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test(arguments: ["parent", "none"])
    func aDestinationMayReceiveLess(_ setting: String) async throws {
        try await run(destination: #""trace": "\#(setting)", "#) { gateway, receiver, _ in
            let headers: Headers = [("traceparent", Self.parent), ("tracestate", "vendor=x")]
            #expect(try await gateway.post(payload, headers: headers).status == 202)
            let message = try #require(await receiver.next().first)
            let event = try event(message)
            #expect(event["traceparent"] == nil && event["tracestate"] == nil && event["id"] != nil)
            #expect(message.header("tracestate") == nil)
            #expect((message.header("traceparent") == nil) == (setting == "none"))
            if setting == "parent" { #expect(try context(message).traceID.description == Self.trace) }
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func aRepeatDoesNotChangeTheEvent() async throws {
        try await run { gateway, receiver, _ in
            let other = "00-aaf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            var ids: Set<String> = []
            for traceparent in [Self.parent, other] {
                let headers: Headers = [("traceparent", traceparent), ("idempotency-key", "k1")]
                let (status, receipt) = try await gateway.post(payload, headers: headers)
                #expect(status == 202)
                ids.insert(try #require(receipt["id"] as? String))
            }
            #expect(ids.count == 1)
            _ = try await gateway.post(payload)
            let messages = await receiver.next(2)
            #expect(try messages.count { try context($0).traceID.description == Self.trace } == 1)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func everyEventOfABatchHasTheTrace() async throws {
        try await run { gateway, receiver, collector in
            let batch = Data(#"[{"aps":{"alert":"1"}},{"aps":{"alert":"2"}}]"#.utf8)
            #expect(try await gateway.post(batch, headers: [("traceparent", Self.parent)]).status == 202)
            let messages = await receiver.next(2)
            let attributes = try messages.map { try #require(try event($0)["traceparent"] as? String) }
            #expect(attributes.allSatisfy { $0.contains(Self.trace) } && Set(attributes).count == 2)
            #expect(try await spans(5, of: collector).count { $0["kind"] as? Int == 4 } == 2)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func pushesAndTapsCarryTheirTraces() async throws {
        try await run { gateway, receiver, collector in
            let device = "/3/device/" + String(repeating: "0123456789abcdef", count: 4)
            let headers: Headers = [("traceparent", Self.parent), ("apns-topic", "com.example.app")]
            #expect(try await gateway.post(payload, to: device, headers: headers).status == 200)
            let push = try #require(await receiver.next().first)
            let notification = try event(push)
            #expect((notification["traceparent"] as? String)?.contains(Self.trace) == true)

            let tap = "aaf92f3577b34da6a3ce929d0e0e4736"
            let id = try #require(notification["id"] as? String)
            let report = #"{"eventId":"\#(id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:00Z"}"#
            let (status, _) = try await gateway.post(
                Data(report.utf8), to: "/v1/interactions", headers: [("traceparent", "00-\(tap)-00f067aa0ba902b7-01")])
            #expect(status == 202)
            let message = try #require(await receiver.next().first)
            #expect(try context(message).traceID.description == tap)
            #expect((try event(message)["traceparent"] as? String)?.contains(tap) == true)
            let names = try await spans(6, of: collector).filter { $0["kind"] as? Int == 2 }.map {
                $0["name"] as? String
            }
            #expect(Set(names) == ["POST /3/device/{token}", "POST /v1/interactions"])
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func scenario49DeliversWhileTheCollectorIsDown() async throws {
        let port = try await ReceivingServer.run { $0.address.port }
        let more = #""telemetry": {"endpoint": "http://127.0.0.1:\#(port)", "interval": "1s"},"#
        try await Gateway.run(config: more) { gateway, receiver, _ in
            let batch = Data(String(repeating: #"{"aps":{"alert":"Hi"}}"# + "\n", count: 5000).utf8)
            #expect(try await gateway.post(batch, headers: [("traceparent", Self.parent)]).status == 202)
            #expect(await receiver.next(5000).count == 5000)
        }
    }

    @Test func scenario50ACollectorThatHangsOrRefusesDelaysNoDelivery() async throws {
        let statuses = Mutex([400, 429, 503])
        let answer: @Sendable (WebhookReceiver.Message) async -> Int = { message in
            guard message.path == "/hooks/v1/traces" else { return 200 }
            if let status = statuses.withLock({ $0.popLast() }) { return status }
            return await Self.silence()
        }
        try await run(collector: answer) { gateway, receiver, collector in
            for _ in 1...3 {
                #expect(try await gateway.post(payload, headers: [("traceparent", Self.parent)]).status == 202)
                #expect(await receiver.next().count == 1)
            }
            // The batch is repeated after 503 and 429, and dropped after 400.
            let spans = try await spans(9, of: collector)
            #expect(spans.count >= 9)
            #expect(try await gateway.post(payload, headers: [("traceparent", Self.parent)]).status == 202)
            #expect(await receiver.next().count == 1)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func scenario51ExportsMetrics() async throws {
        try await run { gateway, _, collector in
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

    @Test func scenario52ShowsExportedTracesAsExemplars() async throws {
        try await run { gateway, receiver, collector in
            #expect(try await gateway.post(payload, headers: [("traceparent", Self.parent)]).status == 202)
            _ = await receiver.next()
            let exported = Set(try await spans(3, of: collector).compactMap { $0["traceId"] as? String })
            let reply = try await Reply(
                gateway.url + "/metrics", "-H", "accept: application/openmetrics-text;version=1.0.0")
            let page = String(decoding: reply.body, as: UTF8.self)
            let lines = page.split(separator: "\n").filter { $0.contains("# {trace_id=\"\(Self.trace)\"}") }
            #expect(exported.contains(Self.trace) && page.hasSuffix("# EOF\n"))
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
            #expect(try await gateway.post(payload).status == 202)
            for await line in gateway.process.errors.stream where line.contains("Telemetry export failing.") {
                #expect(line.contains("address denied"))
                break
            }
            #expect(await gateway.stop() == 0)
        }
    }
}
