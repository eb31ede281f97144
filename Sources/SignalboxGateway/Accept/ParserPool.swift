package import SignalboxJSON
package import SignalboxNotification
import Synchronization

/// Lends parsers and keeps their buffers for the next borrower. Callable from any thread. Parsers grow with the
/// payloads, so reuse avoids allocations for each request.
package final class ParserPool: Sendable {
    // A parser has one borrower at a time. The pool guarantees it; the compiler cannot check it.
    private struct Idle: @unchecked Sendable {
        var parsers: [JSONParser] = []
    }

    private let idle = Mutex(Idle())
    private let limits: JSONParser.Limits
    /// Idle parsers that stay allocated; further ones are freed.
    private static let kept = 16

    /// `limits`: the limits of every parser of the pool.
    private init(limits: JSONParser.Limits) { self.limits = limits }

    /// Parsers with the limits of payloads.
    package static func forPayloads() -> ParserPool { ParserPool(limits: Normalizer.payloadLimits) }

    /// Parsers with the limits of events, shared by every flow of the process.
    package static let events = ParserPool(limits: EventDocument.limits)

    /// Throws if an event of `bytes` bytes exceeds the limits of events, for callers that do not parse it. Throws the
    /// rejection that ``JSONParser/read(event:at:)`` throws for such an event.
    package static func check(eventOf bytes: Int, at place: PayloadPosition) throws(Rejection) {
        guard bytes <= EventDocument.limits.bytes else { throw .eventTooLarge(at: place) }
    }

    /// Lends `body` a parser for the duration of the call. The parser is reset afterwards, so no value of it may
    /// leave `body`. Never waits: it makes a parser if none is idle.
    package func withParser<R, E: Error>(_ body: (JSONParser) throws(E) -> R) throws(E) -> R {
        let parser = idle.withLock { $0.parsers.popLast() } ?? JSONParser(limits: limits)
        defer {
            parser.reset()
            idle.withLock { if $0.parsers.count < Self.kept { $0.parsers.append(parser) } }
        }
        return try body(parser)
    }
}

extension JSONParser {
    /// Parses an event as it will be delivered and invalidates values parsed before. Throws if the event is too
    /// large. Values are valid until the parser's next text and while `event` stays in memory.
    package func read(event: UnsafeBufferPointer<UInt8>, at place: PayloadPosition) throws(Rejection) -> JSONValue {
        reset()
        // The gateway wrote the event, so the only possible error is its size.
        return try parse(event) { _ in Rejection.eventTooLarge(at: place) }
    }

    /// Parses the body of an event, as ``read(event:at:)`` does. Throws a rejection if the event is too large.
    func read(_ event: Event, at place: PayloadPosition) throws(Rejection) -> JSONValue {
        try event.body.withUnsafeBufferPointer { (bytes) throws(Rejection) in try read(event: bytes, at: place) }
    }
}

extension Rejection {
    /// `tooLarge`: HTTP clients receive it as a rejected payload, not as a failed request.
    static func eventTooLarge(at place: PayloadPosition) -> Rejection {
        Rejection(.tooLarge, at: place, "The event made from this payload is too large: send a smaller payload.")
    }

    /// `tooCostly`: the routes' patterns exceed ``MatchWork/limit`` on this event.
    static func tooCostly(at place: PayloadPosition) -> Rejection {
        Rejection(
            .tooCostly, at: place,
            "Routing this payload takes too much work: shorten its arrays and strings.")
    }
}
