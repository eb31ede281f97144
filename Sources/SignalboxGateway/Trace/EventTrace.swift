import SignalboxJSON
import SignalboxNotification

/// The trace attributes of an event. They follow `specversion`, so they are found without parsing the event.
/// Source: github.com/cloudevents/spec, cloudevents/extensions/distributed-tracing.md
extension JSONWriter {
    /// Writes both attributes into an open event, right after `specversion`.
    mutating func traceAttributes(of trace: RequestTrace, event: EventID) {
        member("traceparent", trace.context(of: event).header)
        member("tracestate", trace.state)
    }
}

/// The attributes of an event that was written with ``SignalboxJSON/JSONWriter/traceAttributes(of:event:)``.
package struct EventTrace: Sendable, Equatable {
    /// The context of the event's creation.
    package let context: TraceContext
    /// The received `tracestate`; nil for none.
    let state: String?
    /// The positions of both attributes with the commas before them.
    private let range: Range<Int>

    /// Beginning of every event. The attributes follow it.
    private static let before = Array(#"{"specversion":"1.0""#.utf8)
    private static let parentKey = Array(#","traceparent":""#.utf8)
    private static let stateKey = Array(#","tracestate":""#.utf8)
    private static let quote = UInt8(ascii: "\"")

    /// Nil for an event without a valid attribute. Compares a few bytes for an event without a trace. Stops at the
    /// longest state that the gateway writes.
    package init?(_ event: [UInt8]) {
        let start = Self.before.count
        let text = start + Self.parentKey.count
        guard event.count > text + TraceContext.length, event[start..<text].elementsEqual(Self.parentKey),
            event.starts(with: Self.before), event[text + TraceContext.length] == Self.quote,
            let context = event.withUnsafeBufferPointer({
                TraceContext(UnsafeBufferPointer(rebasing: $0[text..<text + TraceContext.length]))
            })
        else { return nil }
        self.context = context
        var end = text + TraceContext.length + 1
        var state: String?
        if event[end...].starts(with: Self.stateKey),
            let (read, next) = Self.string(in: event, from: end + Self.stateKey.count)
        {
            (state, end) = (read, next)
        }
        self.state = state
        range = start..<end
    }

    /// The string that begins at `start`, and the position after its quotation mark. Nil if it does not end within
    /// ``TraceState/longest`` characters. The gateway writes visible ASCII and escapes only quotation marks and
    /// backslashes.
    private static func string(in event: [UInt8], from start: Int) -> (String, Int)? {
        var bytes: [UInt8] = []
        var position = start
        while position < event.count, bytes.count <= TraceState.longest {
            if event[position] == quote { return (String(decoding: bytes, as: UTF8.self), position + 1) }
            if event[position] == UInt8(ascii: "\\") { position += 1 }
            guard position < event.count else { return nil }
            bytes.append(event[position])
            position += 1
        }
        return nil
    }

    /// The event without both attributes.
    func removed(from event: [UInt8]) -> [UInt8] { Array(event[..<range.lowerBound] + event[range.upperBound...]) }
}

extension TraceContext {
    /// The context of an event's creation, from its attribute; nil without one. Does not parse the event.
    package init?(ofEvent event: [UInt8]) {
        guard let trace = EventTrace(event) else { return nil }
        self = trace.context
    }
}
