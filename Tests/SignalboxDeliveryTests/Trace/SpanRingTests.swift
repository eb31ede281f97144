import Foundation
import Testing

@testable import SignalboxGateway

@Suite struct SpanRingTests {
    private func span(_ name: String = "x") -> TraceSpan {
        TraceSpan(.root(), name, .server, from: Date(timeIntervalSince1970: 1), to: Date(timeIntervalSince1970: 2))
    }

    @Test func dropsSpansBeyondItsCapacity() {
        var ring = SpanRing()
        for number in 0..<SpanRing.capacity + 10 { ring.append(span(String(number))) }
        #expect(ring.count == SpanRing.capacity && ring.dropped == 10)
        #expect(ring.beginExport().map(\.name) == (0..<SpanRing.batch).map(String.init))
    }

    @Test func spansOfTheRequestInProgressCount() {
        var ring = SpanRing()
        for _ in 0..<SpanRing.capacity { ring.append(span()) }
        _ = ring.beginExport()
        ring.append(span())
        #expect(ring.dropped == 1 && ring.count == SpanRing.capacity - SpanRing.batch)
        ring.endExport()
        ring.append(span())
        #expect(ring.dropped == 1 && ring.count == SpanRing.capacity - SpanRing.batch + 1)
    }

    @Test func exportsSpansOnlyOnce() {
        var ring = SpanRing()
        #expect(ring.beginExport().isEmpty)
        ring.append(span("a"))
        #expect(ring.beginExport().map(\.name) == ["a"])
        #expect(ring.beginExport().isEmpty)
    }

    @Test func aSpanDoesNotEndBeforeItBegins() {
        let begun = Date(timeIntervalSince1970: 2)
        #expect(TraceSpan(.root(), "x", .client, from: begun, to: Date(timeIntervalSince1970: 1)).ended == begun)
    }

    @Test func spansAreForgottenWhenExportIsSwitchedOff() {
        let telemetry = Telemetry()
        telemetry.record(span())
        #expect(telemetry.waiting == 0)
        telemetry.apply(ratio: 0)
        telemetry.record(span())
        #expect(telemetry.waiting == 1)
        telemetry.apply(ratio: nil)
        #expect(telemetry.waiting == 0 && telemetry.counts.dropped(.spans) == 0)
    }

    @Test func countsDroppedSpans() {
        let telemetry = Telemetry()
        telemetry.apply(ratio: 0)
        for _ in 0..<SpanRing.capacity + 3 { telemetry.record(span()) }
        #expect(telemetry.counts.dropped(.spans) == 3 && telemetry.waiting == SpanRing.capacity)
        _ = telemetry.beginExport()
        telemetry.endExport(dropped: 512)
        #expect(telemetry.counts.dropped(.spans) == 515 && telemetry.counts.dropped(.points) == 0)
    }
}
