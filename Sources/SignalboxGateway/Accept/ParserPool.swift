package import SignalboxJSON
package import SignalboxNotification
import Synchronization

/// Lends parsers and keeps their buffers for the next borrower. Callable from any thread.
package final class ParserPool: Sendable {
    // A parser has one borrower at a time. The pool guarantees it; the compiler cannot check it.
    private struct Idle: @unchecked Sendable {
        var parsers: [JSONParser] = []
    }

    private let idle = Mutex(Idle())
    private let limits: JSONParser.Limits
    private static let kept = 16

    private init(limits: JSONParser.Limits) { self.limits = limits }

    /// Parsers with the limits of payloads.
    package static func forPayloads() -> ParserPool { ParserPool(limits: Normalizer.payloadLimits) }

    /// Parsers with the limits of events.
    package static func forEvents() -> ParserPool { ParserPool(limits: EventDocument.limits) }

    /// Throws if an event of so many bytes exceeds the limits of events, for callers that do not parse it.
    package static func check(eventOf bytes: Int, at place: Place) throws(Rejection) {
        guard bytes <= EventDocument.limits.bytes else { throw .eventTooLarge(at: place) }
    }

    /// Lends `body` a parser for the duration of the call.
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
    /// A parser with the limits of events, for every event that the gateway stores.
    static func forEvents() -> JSONParser { JSONParser(limits: EventDocument.limits) }

    /// Parses an event as it will be delivered and invalidates values parsed before. Throws if the event is too large.
    package func read(event: UnsafeBufferPointer<UInt8>, at place: Place) throws(Rejection) -> JSONValue {
        reset()
        do throws(JSONError) {
            return try parse(event)
        } catch {
            // The gateway wrote the event, so the only possible error is its size.
            throw .eventTooLarge(at: place)
        }
    }

    /// Parses the body of an event, as ``read(event:at:)`` does.
    func read(_ event: Event, at place: Place) throws(Rejection) -> JSONValue {
        let result = event.body.withUnsafeBufferPointer { bytes in
            Result { () throws(Rejection) in try read(event: bytes, at: place) }
        }
        return try result.get()
    }
}

extension Rejection {
    static func eventTooLarge(at place: Place) -> Rejection {
        Rejection(.tooLarge, at: place, "The event made from this payload is too large: send a smaller payload.")
    }

    static func tooCostly(at place: Place) -> Rejection {
        Rejection(
            .tooCostly, at: place,
            "Routing this payload takes too much work: shorten its arrays and strings.")
    }
}
