package import SignalboxJSON
package import SignalboxNotification
import Synchronization

/// Lends parsers, whose buffers are worth keeping, to whoever has something to parse.
package final class ParserPool: Sendable {
    // A parser is used by one borrower at a time, which the pool sees to; the compiler cannot.
    private struct Idle: @unchecked Sendable {
        var parsers: [JSONParser] = []
    }

    private let idle = Mutex(Idle())
    private let limits: JSONParser.Limits
    private static let kept = 16

    private init(limits: JSONParser.Limits) { self.limits = limits }

    /// For payloads, as large and as deep as we take them.
    package static func forPayloads() -> ParserPool { ParserPool(limits: Normalizer.payloadLimits) }

    /// For events of our own making, which are deeper than their payloads and may be longer.
    package static func forEvents() -> ParserPool { ParserPool(limits: eventLimits) }

    /// Throws where an event of so many bytes is larger than such a parser takes, for those who need not read it.
    package static func check(eventOf bytes: Int, at place: Place) throws(Rejection) {
        guard bytes <= eventLimits.bytes else { throw .eventTooLarge(at: place) }
    }

    private static let eventLimits: JSONParser.Limits = {
        var limits = Normalizer.payloadLimits
        limits.bytes *= 16
        limits.depth += 16
        return limits
    }()

    /// Hands `body` a parser that nobody else uses meanwhile.
    package func withParser<R, E: Error>(_ body: (JSONParser) throws(E) -> R) throws(E) -> R {
        let parser = idle.withLock { $0.parsers.popLast() } ?? JSONParser(limits: limits)
        defer {
            parser.reset()
            idle.withLock { if $0.parsers.count < Self.kept { $0.parsers.append(parser) } }
        }
        return try body(parser)
    }
}
