import Foundation
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct EventTraceTests {
    private static let received = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private let id = EventID(at: Date(timeIntervalSince1970: 1_795_210_140), random: (1, 2))

    private func event(_ trace: RequestTrace?) -> [UInt8] {
        let reception = Reception(from: SourceName("mobile"), at: Date(timeIntervalSince1970: 1), trace: trace)
        var json = JSONWriter()
        CloudEventEnvelope(.init(gateway: "demo", source: reception.source), reception: reception).write(
            PushNotification(platform: .apns), id: id, into: &json)
        return json.bytes
    }

    private func trace(_ telemetry: Telemetry, _ state: String? = nil, parent: String = EventTraceTests.received) throws
        -> RequestTrace
    {
        try #require(telemetry.trace(traceparent: parent, state: state))
    }

    private var exporting: Telemetry {
        let telemetry = Telemetry()
        telemetry.apply(ratio: 0)
        return telemetry
    }

    @Test func anEventWithoutTraceHasNoAttribute() {
        let event = event(nil)
        #expect(EventTrace(event) == nil && TraceContext(ofEvent: event) == nil)
        #expect(!String(decoding: event, as: UTF8.self).contains("trace"))
    }

    @Test func carriesTheReceivedContextIfNoSpanIsRecorded() throws {
        let event = event(try trace(Telemetry(), "a=1"))
        let found = try #require(EventTrace(event))
        #expect(found.context.header == Self.received && found.state == "a=1")
        let text = String(decoding: event, as: UTF8.self)
        #expect(text.hasPrefix(#"{"specversion":"1.0","traceparent":"\#(Self.received)","tracestate":"a=1","id":"#))
    }

    @Test func carriesTheSpanOfItsCreationIfItIsRecorded() throws {
        let found = try #require(EventTrace(event(try trace(exporting))))
        #expect(found.context.traceID == TraceContext(Self.received)?.traceID && found.context.isSampled)
        #expect(found.context.spanID == SpanID(id.randomBits) && found.state == nil)
    }

    @Test func recordsABoundedNumberOfCreations() throws {
        let telemetry = exporting
        let events = (0..<10_000).map { number in
            let id = EventID(at: Date(timeIntervalSince1970: 1), random: (1, UInt64(number)))
            let event = Event(
                id: id, source: .default, acceptedAt: Date(), vendor: .unknown, kind: .alert, warnings: [], body: [])
            return RoutedEvent(event: event, routes: [], deliveries: [])
        }
        try trace(telemetry).recordCreation(of: events, without: [0: "earlier"])
        #expect(telemetry.waiting == RequestTrace.mostCreations)
        #expect(telemetry.counts.dropped(.spans) == 9_999 - RequestTrace.mostCreations)
    }

    @Test func recordsFewSpansOfRequestsWithoutAccess() throws {
        let telemetry = exporting
        for status in [401, 403] {
            for _ in 0..<1000 { try trace(telemetry).finish("POST", route: "/v1/notifications", status: status) }
        }
        try trace(telemetry).finish("POST", route: "/v1/notifications", status: 413)
        // More than ten if the loop takes longer than a second.
        #expect((11..<1000).contains(telemetry.waiting))
        #expect(telemetry.counts.dropped(.spans) == 2001 - telemetry.waiting)
    }

    @Test func doesNotRecordATraceThatItsSenderDoesNotSample() throws {
        let unsampled = Self.received.dropLast() + "0"
        let trace = try trace(exporting, parent: String(unsampled))
        #expect(!trace.isRecorded && EventTrace(event(trace))?.context.header == String(unsampled))
    }

    /// The event without its attributes is the event of a request without a trace.
    @Test(arguments: [nil, "a=1", #"a="\x\"y,b=2"#, "a= x"])
    func removesBothAttributes(_ state: String?) throws {
        let event = event(try trace(Telemetry(), state))
        let found = try #require(EventTrace(event))
        #expect(found.state == state)
        #expect(found.removed(from: event) == self.event(nil))
    }

    /// A redaction and a wait for files write events again.
    @Test func findsTheAttributesInARewrittenEvent() throws {
        let event = event(try trace(Telemetry(), #"a="\x"#))
        let parser = JSONParser()
        let copy = try withExtendedLifetime(parser) { JSONText(try parser.parse(event)).bytes }
        #expect(copy == event && EventTrace(copy) == EventTrace(event))
    }

    @Test(arguments: [
        "", "{", #"{"specversion":"1.0""#, #"{"specversion":"1.0","traceparent":""#,
        #"{"specversion":"1.0","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"#,
        #"{"specversion":"1.0","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x","id":"1"}"#,
        #"{"specversion":"1.0","id":"1","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}"#,
    ])
    func ignoresOtherTexts(_ text: String) { #expect(EventTrace(Array(text.utf8)) == nil) }

    @Test func readsEveryPrefixOfAnEventSafely() throws {
        let event = event(try trace(Telemetry(), "a=1"))
        for length in event.indices {
            let found = EventTrace(Array(event[..<length]))
            #expect(found == nil || found?.context.header == Self.received)
        }
    }

    @Test func anInvalidContextBeginsNoTrace() {
        #expect(Telemetry().trace(traceparent: "00-0-0-01", state: "a=1") == nil)
        #expect(exporting.trace(traceparent: "00-0-0-01", state: "a=1") == nil)
        #expect(Telemetry().trace(traceparent: nil, state: "a=1") == nil)
    }

    @Test func samplesNewTracesByTheRatio() throws {
        let telemetry = Telemetry()
        telemetry.apply(ratio: 1)
        let trace = try #require(telemetry.trace(traceparent: "invalid", state: "a=1"))
        #expect(trace.isRecorded && trace.parent == nil && trace.state == nil && trace.context.isSampled)
        telemetry.apply(ratio: 0.5)
        let sampled = (0..<1000).count { _ in telemetry.trace(traceparent: nil, state: nil) != nil }
        #expect((300...700).contains(sampled))
        telemetry.apply(ratio: nil)
        #expect(telemetry.trace(traceparent: nil, state: nil) == nil)
    }
}
