package import Foundation
package import SignalboxJSON
package import SignalboxModel

/// Reads payloads out of a stream of bytes: NDJSON, a JSON array, or texts that follow one another. Every payload
/// becomes an event or a rejection with its place; a bad one costs none of its neighbours.
package struct PayloadReader {
    private var splitter = JSONSplitter(limit: Normalizer.payloadLimit)
    private let normalizer: Normalizer
    private let source: SourceName
    private let parser: JSONParser

    /// `parser`: from ``Normalizer/makeParser()``; this reader's alone while it reads.
    package init(normalizer: Normalizer, source: SourceName, parser: JSONParser) {
        self.normalizer = normalizer
        self.source = source
        self.parser = parser
    }

    /// True when the input turned out to be a JSON array.
    package var isArray: Bool { splitter.isArray }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) { splitter.append(bytes) }

    /// Says that no more input comes.
    package mutating func finish() { splitter.finish() }

    /// The next payload, or nil when more input is needed or none is left.
    package mutating func next(receivedAt: Date) -> Result<Event, Rejection>? {
        while let piece = splitter.next() {
            let place = Place(line: piece.line, offset: piece.offset)
            if let fault = piece.fault { return .failure(Rejection(fault, at: place)) }
            let result = splitter.withBytes(of: piece) { bytes in
                Result { () throws(Rejection) in
                    try normalizer.event(bytes, from: source, receivedAt: receivedAt, at: place, with: parser)
                }
            }
            if case .failure = result, piece.isGuess {
                splitter.reconsider(piece)
            } else {
                return result
            }
        }
        return nil
    }
}

extension Rejection {
    fileprivate init(_ fault: JSONSplitter.Fault, at place: Place) {
        switch fault {
        case .truncated:
            self.init(.truncated, at: place, "The payload that begins here is not closed: send all of it.")
        case .tooLong:
            self.init(
                .tooLarge, at: place,
                "The payload that begins here is larger than \(Normalizer.payloadLimit) bytes, which no push service takes."
            )
        case .misplaced:
            self.init(.notJSON, at: place, "No payload can begin here: look for a bracket or comma too many before it.")
        }
    }
}
