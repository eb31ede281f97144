import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Traces, on the built binary.
@Suite(.timeLimit(.minutes(3))) struct TraceTests {
    /// A request with an idempotency key goes through the router; a request without one does not.
    @Test(arguments: [nil, "once"])
    func theTraceOfARequestContinuesInItsWebhooks(_ key: String?) async throws {
        try await TraceSetting.run([503, 204]) { gateway, receiver, collector in
            var headers: TraceSetting.Headers = [
                ("traceparent", TraceSetting.parent), ("tracestate", "vendor=x"), ("baggage", "user=1"),
            ]
            if let key { headers.append(("idempotency-key", key)) }
            #expect(try await gateway.post(TraceSetting.payload, headers: headers).status == 202)
            let messages = await receiver.next(2)
            let contexts = try messages.map { try TraceSetting.context($0) }
            #expect(contexts.allSatisfy { $0.traceID.description == TraceSetting.trace && $0.isSampled })
            #expect(contexts[0].spanID != contexts[1].spanID)
            for (message, context) in zip(messages, contexts) {
                #expect(message.header("tracestate") == "signalbox=\(context.spanID),vendor=x")
                #expect(message.header("baggage") == nil)
            }
            #expect(messages[0].body == messages[1].body)
            let event = try TraceSetting.event(messages[0])
            let attribute = try #require((event["traceparent"] as? String).flatMap { TraceContext($0) })
            #expect(attribute.traceID.description == TraceSetting.trace && event["tracestate"] as? String == "vendor=x")

            let spans = try await TraceSetting.spans(4, of: collector)
            #expect(spans.allSatisfy { $0["traceId"] as? String == TraceSetting.trace })
            let server = try #require(spans.first { $0["kind"] as? Int == 2 })
            let create = try #require(spans.first { $0["kind"] as? Int == 4 })
            let posts = spans.filter { $0["kind"] as? Int == 3 }
            #expect(server["name"] as? String == "POST /v1/notifications")
            #expect(server["parentSpanId"] as? String == "00f067aa0ba902b7")
            #expect(TraceSetting.attributes(server)["http.response.status_code"] == "202")
            #expect(
                create["name"] as? String == "create"
                    && create["parentSpanId"] as? String == server["spanId"] as? String)
            #expect(create["spanId"] as? String == attribute.spanID.description)
            #expect(TraceSetting.attributes(create)["messaging.message.id"] == event["id"] as? String)
            #expect(posts.map { $0["spanId"] as? String } == contexts.map(\.spanID.description))
            #expect(posts.allSatisfy { $0["parentSpanId"] as? String == attribute.spanID.description })
            let (first, second) = (TraceSetting.attributes(posts[0]), TraceSetting.attributes(posts[1]))
            #expect(first["error.type"] == "503" && first["http.request.resend_count"] == nil)
            #expect(second["error.type"] == nil && second["http.request.resend_count"] == "1")
            #expect(second["messaging.destination.name"] == "crm" && second["server.address"] == "127.0.0.1")
            #expect(await gateway.stop() == 0)
        }
    }

    @Test(arguments: [
        nil, "00-0-0-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", TraceSetting.parent + "-more",
    ])
    func aRequestWithoutAValidContextBeginsANewTrace(_ traceparent: String?) async throws {
        try await TraceSetting.run { gateway, receiver, _ in
            var headers: TraceSetting.Headers = [("tracestate", "vendor=x"), ("baggage", "user=1")]
            if let traceparent { headers.append(("traceparent", traceparent)) }
            let (status, receipt) = try await gateway.post(TraceSetting.payload, headers: headers)
            #expect(status == 202)
            let message = try #require(await receiver.next().first)
            let id = try #require(receipt["id"] as? String)
            #expect(try TraceSetting.context(message).traceID.description == id.replacing("-", with: ""))
            #expect(try !TraceSetting.context(message).isSampled)
            #expect(message.header("tracestate") == nil && message.header("baggage") == nil)
            let event = try TraceSetting.event(message)
            #expect(event["traceparent"] == nil && event["tracestate"] == nil)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func aRepeatedHeaderBeginsANewTrace() async throws {
        try await TraceSetting.run { gateway, receiver, _ in
            let twice: TraceSetting.Headers = [
                ("traceparent", TraceSetting.parent), ("traceparent", TraceSetting.parent),
            ]
            let answer = try await gateway.post(TraceSetting.payload, headers: twice)
            #expect(answer.status == 202)
            let message = try #require(await receiver.next().first)
            let event = try TraceSetting.event(message)
            #expect(event["traceparent"] == nil)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func tracesRequestsByTheRatio() async throws {
        try await TraceSetting.run(telemetry: #", "ratio": 1"#) { gateway, receiver, collector in
            #expect(try await gateway.post(TraceSetting.payload).status == 202)
            let message = try #require(await receiver.next().first)
            let attribute = try #require(
                (try TraceSetting.event(message)["traceparent"] as? String).flatMap { TraceContext($0) })
            #expect(try TraceSetting.context(message).traceID == attribute.traceID && attribute.isSampled)
            let spans = try await TraceSetting.spans(3, of: collector)
            #expect(spans.allSatisfy { $0["traceId"] as? String == attribute.traceID.description })
            #expect(try #require(spans.first { $0["kind"] as? Int == 2 })["parentSpanId"] == nil)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test(arguments: ["parent", "none"])
    func aDestinationMayReceiveLess(_ setting: String) async throws {
        try await TraceSetting.run(destination: #""trace": "\#(setting)", "#) { gateway, receiver, _ in
            let headers: TraceSetting.Headers = [("traceparent", TraceSetting.parent), ("tracestate", "vendor=x")]
            #expect(try await gateway.post(TraceSetting.payload, headers: headers).status == 202)
            let message = try #require(await receiver.next().first)
            let event = try TraceSetting.event(message)
            #expect(event["traceparent"] == nil && event["tracestate"] == nil && event["id"] != nil)
            #expect(message.header("tracestate") == nil)
            #expect((message.header("traceparent") == nil) == (setting == "none"))
            if setting == "parent" {
                #expect(try TraceSetting.context(message).traceID.description == TraceSetting.trace)
            }
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func aRepeatDoesNotChangeTheEvent() async throws {
        try await TraceSetting.run { gateway, receiver, _ in
            let other = "00-aaf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            var ids: Set<String> = []
            for traceparent in [TraceSetting.parent, other] {
                let headers: TraceSetting.Headers = [("traceparent", traceparent), ("idempotency-key", "k1")]
                let (status, receipt) = try await gateway.post(TraceSetting.payload, headers: headers)
                #expect(status == 202)
                ids.insert(try #require(receipt["id"] as? String))
            }
            #expect(ids.count == 1)
            _ = try await gateway.post(TraceSetting.payload)
            let messages = await receiver.next(2)
            #expect(try messages.count { try TraceSetting.context($0).traceID.description == TraceSetting.trace } == 1)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func everyEventOfABatchHasTheTrace() async throws {
        try await TraceSetting.run { gateway, receiver, collector in
            let batch = Data(#"[{"aps":{"alert":"1"}},{"aps":{"alert":"2"}}]"#.utf8)
            #expect(try await gateway.post(batch, headers: [("traceparent", TraceSetting.parent)]).status == 202)
            let messages = await receiver.next(2)
            let attributes = try messages.map { try #require(try TraceSetting.event($0)["traceparent"] as? String) }
            #expect(attributes.allSatisfy { $0.contains(TraceSetting.trace) } && Set(attributes).count == 2)
            #expect(try await TraceSetting.spans(5, of: collector).count { $0["kind"] as? Int == 4 } == 2)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func pushesAndTapsCarryTheirTraces() async throws {
        try await TraceSetting.run { gateway, receiver, collector in
            let device = "/3/device/" + String(repeating: "0123456789abcdef", count: 4)
            let headers: TraceSetting.Headers = [
                ("traceparent", TraceSetting.parent), ("apns-topic", "com.example.app"),
            ]
            #expect(try await gateway.post(TraceSetting.payload, to: device, headers: headers).status == 200)
            let push = try #require(await receiver.next().first)
            let notification = try TraceSetting.event(push)
            #expect((notification["traceparent"] as? String)?.contains(TraceSetting.trace) == true)

            let tap = "aaf92f3577b34da6a3ce929d0e0e4736"
            let id = try #require(notification["id"] as? String)
            let report = #"{"eventId":"\#(id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:00Z"}"#
            let (status, _) = try await gateway.post(
                Data(report.utf8), to: "/v1/interactions", headers: [("traceparent", "00-\(tap)-00f067aa0ba902b7-01")])
            #expect(status == 202)
            let message = try #require(await receiver.next().first)
            #expect(try TraceSetting.context(message).traceID.description == tap)
            #expect((try TraceSetting.event(message)["traceparent"] as? String)?.contains(tap) == true)
            let names = try await TraceSetting.spans(6, of: collector).filter { $0["kind"] as? Int == 2 }.map {
                $0["name"] as? String
            }
            #expect(Set(names) == ["POST /3/device/{token}", "POST /v1/interactions"])
            #expect(await gateway.stop() == 0)
        }
    }

    /// A wrong parameter, a trigger without members, and a push without a device token.
    @Test func refusedRequestsHaveSpans() async throws {
        try await TraceSetting.run { gateway, _, collector in
            let headers: TraceSetting.Headers = [("traceparent", TraceSetting.parent)]
            for path in ["/v1/notifications?x=1", "/v1/inapp/triggers", "/3/device/short"] {
                #expect(try await gateway.post(Data("{}".utf8), to: path, headers: headers).status >= 400, "\(path)")
            }
            let spans = try await TraceSetting.spans(3, of: collector)
            #expect(
                Set(spans.compactMap { $0["name"] as? String }) == [
                    "POST /v1/notifications", "POST /v1/inapp/triggers", "POST /3/device/{token}",
                ])
            #expect(spans.allSatisfy { $0["traceId"] as? String == TraceSetting.trace && $0["kind"] as? Int == 2 })
            #expect(await gateway.stop() == 0)
        }
    }
}
