import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting

/// A normaliser with a fixed key and clock, which reads in-app messages and whose events are recorded.
struct TestPipeline {
    static let time = Date(timeIntervalSince1970: 1_795_210_140.123)
    static let key = [UInt8](repeating: 7, count: 32)

    var normalizer = Normalizer(
        chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: key), registersMessages: true)
    let reception = Reception(from: SourceName("mobile"), at: time)

    /// The event of one payload. `vendor`: the vendor of the source in the config.
    func event(_ payload: [UInt8], of vendor: VendorID? = nil) -> Result<Event, Rejection> {
        let reception = Reception(from: reception.source, at: reception.receivedAt, vendor: vendor)
        let parser = Normalizer.makeParser()
        return payload.withUnsafeBufferPointer { bytes in
            Result { () throws(Rejection) in
                let event = try normalizer.event(
                    bytes, as: reception, at: PayloadPosition(line: 3, offset: 40), with: parser)
                EventRecorder.record(event.body)
                return event
            }
        }
    }

    func event(_ payload: String) -> Result<Event, Rejection> { event(Array(payload.utf8)) }

    /// The events of an input, appended in chunks. `slice`: the time of each call that reads a block; nil for one call.
    func read(_ input: [UInt8], chunk: Int = .max, upTo slice: Duration? = nil) -> [Result<Event, Rejection>] {
        var blocks = PayloadBlocks()
        var results: [Result<Event, Rejection>] = []
        let parser = Normalizer.makeParser()
        func take() {
            let block = blocks.take()
            var next: Int? = 0
            while let first = next {
                next = block.read(from: first, by: normalizer, as: reception, with: parser, upTo: slice) { result in
                    if case .success(let event) = result { EventRecorder.record(event.body) }
                    results.append(result)
                    return true
                }
            }
        }
        var rest = input[...]
        while !rest.isEmpty {
            rest.prefix(chunk).withUnsafeBytes { blocks.append($0) }
            rest = rest.dropFirst(chunk)
            take()
        }
        blocks.finish()
        take()
        return results
    }

    func read(_ input: String, chunk: Int = .max, upTo slice: Duration? = nil) -> [Result<Event, Rejection>] {
        read(Array(input.utf8), chunk: chunk, upTo: slice)
    }
}

extension Result<Event, Rejection> {
    /// `line kind`, or `line code`.
    var summary: String {
        switch self {
        case .success(let event): event.subject
        case .failure(let rejection): "\(rejection.place.line) \(rejection.code.rawValue)"
        }
    }

    var rejection: Rejection? {
        if case .failure(let rejection) = self { rejection } else { nil }
    }
}

/// Parses an event's body; the value is valid during `read`.
func withEvent<R>(_ event: Event, _ read: (JSONValue) throws -> R) throws -> R {
    let parser = JSONParser()
    return try withExtendedLifetime(parser) { try read(try parser.parse(event.body)) }
}
