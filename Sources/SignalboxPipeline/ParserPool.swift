package import SignalboxJSON
import Synchronization

/// Lends parsers, whose buffers are worth keeping, to whoever has a payload to parse.
package final class ParserPool: Sendable {
    // A parser is used by one borrower at a time, which the pool sees to; the compiler cannot.
    private struct Idle: @unchecked Sendable {
        var parsers: [JSONParser] = []
    }

    private let idle = Mutex(Idle())
    private static let kept = 16

    package init() {}

    /// Hands `body` a parser that nobody else uses meanwhile.
    package func withParser<R, E: Error>(_ body: (JSONParser) throws(E) -> R) throws(E) -> R {
        let parser = idle.withLock { $0.parsers.popLast() } ?? Normalizer.makeParser()
        defer {
            parser.reset()
            idle.withLock { if $0.parsers.count < Self.kept { $0.parsers.append(parser) } }
        }
        return try body(parser)
    }
}
