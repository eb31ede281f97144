import Foundation
import SignalboxConfig
import SignalboxStore

/// The trace of one attempt: its own span, and its relation to the events that it delivers. Decides only;
/// ``WebhookSender`` sends the headers, ``Telemetry`` records the span.
struct AttemptTrace: Sendable {
    /// The span of the attempt.
    let context: TraceContext
    /// The span that led to the attempt; nil for the first span of a trace.
    let parent: SpanID?
    /// Contexts of events that the attempt belongs to, besides ``parent``.
    let links: [TraceContext]
    /// The `tracestate` of the event; nil for none, and in a new trace.
    private let state: String?
    /// True if an event has a trace.
    private let isOfTracedEvent: Bool

    /// Later attempts begin a new trace, so that traces end in time for their collectors.
    static let longestTrace: TimeInterval = 600
    /// Most links of a span, as OpenTelemetry's default.
    private static let mostLinks = 128

    /// `events`: the traces of the events of one message, in order. `message`: its `webhook-id`, 32 hexadecimal digits
    /// with or without hyphens. `isLate`: an event is older than ``longestTrace``.
    ///
    /// An attempt continues the trace that all events of the message share. A late attempt, and one with events of
    /// several traces, begins a new trace with links to them. Its identifier is that of the message, so all such
    /// attempts of a message share a trace. It is sampled if one of the events is.
    init(of events: [EventTrace?], message: String, isLate: Bool) {
        let contexts = events.compactMap { $0?.context }
        isOfTracedEvent = !contexts.isEmpty
        if let first = contexts.first, !isLate, contexts.count == events.count,
            contexts.allSatisfy({ $0.traceID == first.traceID })
        {
            let isSampled = contexts.contains(where: \.isSampled)
            context = TraceContext(
                first.traceID, .random(), flags: first.flags | (isSampled ? TraceContext.sampled : 0))
            parent = first.spanID
            links = Array(contexts.dropFirst().prefix(Self.mostLinks))
            state = events[0]?.state
        } else {
            let flags = contexts.contains(where: \.isSampled) ? TraceContext.sampled : 0
            context = Self.context(ofMessage: message, flags: flags)
            parent = nil
            links = Array(contexts.prefix(Self.mostLinks))
            state = nil
        }
    }

    /// A new span in the trace that a message's id names. Requires 32 hexadecimal digits, with or without hyphens; for
    /// any other id the trace is random.
    static func context(ofMessage id: String, flags: UInt8 = 0) -> TraceContext {
        let trace = TraceID(digits: id.utf8.filter { $0 != UInt8(ascii: "-") })
        return TraceContext(trace ?? .random(), .random(), flags: flags)
    }

    /// True if an event is older than ``longestTrace``. `id`: a UUID of version 7, whose first 48 bits are the time in
    /// milliseconds; false for any other text.
    static func isLate(_ id: String, at now: Date) -> Bool {
        let digits = id.utf8.prefix(13).filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 12, let time = UInt64(lowerCaseDigits: digits) else { return false }
        return now.timeIntervalSince1970 - TimeInterval(time) / 1000 > longestTrace
    }

    /// The headers of the attempt.
    func headers(_ forwarding: Destination.TraceForwarding) -> [(name: String, value: String)] {
        switch forwarding {
        case .none: return []
        case .parent: return [("traceparent", context.header)]
        case .full:
            let parent = ("traceparent", context.header)
            guard isOfTracedEvent else { return [parent] }
            return [parent, ("tracestate", TraceState.text(of: context.spanID, before: state))]
        }
    }
}

extension Lease {
    /// The lease with its event without the attributes of `trace`, which is the event's.
    func withoutTrace(_ trace: EventTrace?) -> Lease {
        guard let trace else { return self }
        var lease = self
        lease.body = trace.removed(from: body)
        return lease
    }
}
