import Foundation
import SignalboxConfig
import SignalboxNotification
import Testing

@testable import SignalboxGateway

@Suite struct AttemptTraceTests {
    private static let message = "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11"
    private static let messageTrace = "01939b4e7c1a7d2e9a540c8f6f1f3c11"
    private static let first = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let second = "aaf92f3577b34da6a3ce929d0e0e4736"

    private func event(_ trace: String, span: String = "00f067aa0ba902b7", flags: String = "01", state: String? = nil)
        throws -> EventTrace
    {
        let member = state.map { #","tracestate":"\#($0)""# } ?? ""
        let text = #"{"specversion":"1.0","traceparent":"00-\#(trace)-\#(span)-\#(flags)"\#(member),"id":"1"}"#
        return try #require(EventTrace(Array(text.utf8)))
    }

    private func attempt(_ events: [EventTrace?], isLate: Bool = false) -> AttemptTrace {
        AttemptTrace(of: events, message: Self.message, isLate: isLate)
    }

    private func names(_ attempt: AttemptTrace) -> [String] { attempt.headers(.full).map(\.name) }

    @Test func anEventWithoutTraceHasTheTraceOfItsMessage() {
        let attempt = attempt([nil])
        #expect(attempt.context.traceID.description == Self.messageTrace && !attempt.context.isSampled)
        #expect(attempt.parent == nil && attempt.links.isEmpty && names(attempt) == ["traceparent"])
        #expect(self.attempt([nil]).context.spanID != attempt.context.spanID)
    }

    @Test func continuesTheTraceOfItsEvent() throws {
        let event = try event(Self.first, state: "a=1")
        let attempt = attempt([event])
        #expect(attempt.context.traceID == event.context.traceID && attempt.context.isSampled)
        #expect(attempt.parent == event.context.spanID && attempt.context.spanID != event.context.spanID)
        #expect(
            attempt.headers(.full).map(\.value) == [attempt.context.header, "signalbox=\(attempt.context.spanID),a=1"])
    }

    @Test func keepsAnUnsampledTraceUnsampled() throws {
        let attempt = attempt([try event(Self.first, flags: "02")])
        #expect(!attempt.context.isSampled && attempt.context.header.hasSuffix("-02"))
    }

    @Test func aLateAttemptBeginsATraceWithALink() throws {
        let event = try event(Self.first, state: "a=1")
        let attempt = attempt([event], isLate: true)
        #expect(attempt.context.traceID.description == Self.messageTrace && attempt.context.isSampled)
        #expect(attempt.parent == nil && attempt.links == [event.context])
        #expect(attempt.headers(.full).last?.value == "signalbox=\(attempt.context.spanID)")
    }

    @Test func aBatchOfOneTraceContinuesIt() throws {
        let events = [try event(Self.first), try event(Self.first, span: "00f067aa0ba902b8", flags: "00")]
        let attempt = attempt(events)
        #expect(attempt.context.traceID == events[0].context.traceID && attempt.context.isSampled)
        #expect(attempt.parent == events[0].context.spanID && attempt.links == [events[1].context])
    }

    @Test func aBatchOfSeveralTracesBeginsOne() throws {
        let events = [try event(Self.first, flags: "00"), nil, try event(Self.second)]
        let attempt = attempt(events)
        #expect(attempt.context.traceID.description == Self.messageTrace && attempt.context.isSampled)
        #expect(attempt.links == events.compactMap { $0?.context })
    }

    @Test func limitsTheLinks() throws {
        let events = try (0..<1000).map { try event(String(Self.first.dropLast(3)) + String(100 + $0 % 900)) }
        #expect(attempt(events).links.count == 128)
    }

    @Test func settingsOfADestinationRemoveHeaders() throws {
        let attempt = attempt([try event(Self.first, state: "a=1")])
        #expect(attempt.headers(.full).map(\.name) == ["traceparent", "tracestate"])
        #expect(attempt.headers(.parent).map(\.name) == ["traceparent"])
        #expect(attempt.headers(.none).isEmpty)
        #expect(self.attempt([nil]).headers(.none).isEmpty)
    }

    @Test func isLateAfterTenMinutes() {
        let event = Date(timeIntervalSince1970: TimeInterval(0x0193_9b4e_7c1a) / 1000)
        #expect(!AttemptTrace.isLate(Self.message, at: event.addingTimeInterval(599)))
        #expect(AttemptTrace.isLate(Self.message, at: event.addingTimeInterval(601)))
        #expect(!AttemptTrace.isLate("not an id", at: Date()) && !AttemptTrace.isLate("", at: Date()))
    }
}
