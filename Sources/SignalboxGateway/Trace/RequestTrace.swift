import Foundation
import SignalboxNotification

/// The trace of one request, which its events continue.
///
/// A class although it is immutable: most requests have no trace, and a nil reference takes one word in every value
/// that it passes through.
package final class RequestTrace: Sendable {
    /// The received context; nil for a new trace.
    let parent: TraceContext?
    /// The received `tracestate` without the gateway's member; nil for none.
    let state: String?
    /// The request's own span; the received context if the span is not recorded.
    package let context: TraceContext
    /// Nil if no span of the request is recorded.
    private let telemetry: Telemetry?
    private let begun: Date

    /// `telemetry`: records the spans of the request; nil for none.
    init(parent: TraceContext, state: TraceState?, telemetry: Telemetry?, at begun: Date) {
        self.parent = parent
        self.state = state?.text
        context = telemetry == nil ? parent : parent.child()
        (self.telemetry, self.begun) = (telemetry, begun)
    }

    /// A new trace, whose spans are recorded.
    init(telemetry: Telemetry, at begun: Date) {
        parent = nil
        state = nil
        context = .root()
        (self.telemetry, self.begun) = (telemetry, begun)
    }

    /// True if the spans of the request are recorded.
    package var isRecorded: Bool { telemetry != nil }

    /// The trace's identifier, for exemplars of metrics; nil if its spans are not exported.
    package var exemplar: String? { isRecorded ? context.traceID.description : nil }

    /// The context that an event carries for its life: the span of its creation, or the received context if no span
    /// is recorded. The span's identifier derives from the event's.
    func context(of event: EventID) -> TraceContext {
        guard isRecorded, let span = SpanID(event.randomBits) else { return context }
        return TraceContext(context.traceID, span, flags: context.flags)
    }

    /// The largest number of spans for the events of one request: the batch of one request to the collector.
    static let mostCreations = SpanRing.batch

    /// Records the creation of events, of ``mostCreations`` at most; counts the others as dropped. Call it after their
    /// commit. `duplicates`: positions of events that were not stored.
    func recordCreation(of events: [RoutedEvent], without duplicates: [Int: String]) {
        guard let telemetry else { return }
        let end = telemetry.now()
        var left = Self.mostCreations
        let dropped = events.count - duplicates.count - left
        if dropped > 0 { telemetry.counts.drop(.spans, dropped) }
        for (position, routed) in events.enumerated() where duplicates[position] == nil {
            guard left > 0 else { return }
            left -= 1
            let event = routed.event
            var span = TraceSpan(context(of: event.id), "create", .producer, from: begun, to: end)
            span.parent = context.spanID
            span.state = state
            span.attributes = [
                .init("messaging.system", "signalbox"), .init("messaging.operation.name", "create"),
                .init("messaging.operation.type", "create"), .init("messaging.message.id", event.id.description),
                .init("signalbox.source", event.source.name), .init("signalbox.vendor", event.vendor.name),
            ]
            telemetry.record(span)
        }
    }

    /// Statuses of requests without access.
    private static let refusals = [401, 403]

    /// Records the request's span. `route`: the path of the endpoint with its parameters' names. Does nothing if the
    /// request is not recorded. Call it once, when the status is known. Few spans of requests without access are
    /// recorded: a client without a token must not displace the others.
    package func finish(_ method: String, route: String, status: Int) {
        guard let telemetry else { return }
        if Self.refusals.contains(status), !telemetry.admitsRefusal() { return telemetry.counts.drop(.spans, 1) }
        var span = TraceSpan(context, "\(method) \(route)", .server, from: begun, to: telemetry.now())
        span.parent = parent?.spanID
        span.state = state
        span.attributes = [
            .init("http.request.method", method), .init("http.route", route),
            .init("http.response.status_code", status),
        ]
        if status >= 500 { span.fail(String(status)) }
        telemetry.record(span)
    }
}
