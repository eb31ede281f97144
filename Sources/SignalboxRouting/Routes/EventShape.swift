package import SignalboxJSON

/// What a route's destinations get in the place of an event: first what they must not see goes, then other data are made of
/// the rest. The envelope stays, so every format and signature works as before.
package struct EventShape: Sendable, Equatable {
    package var redaction: Redaction?
    package var transform: EventTransform?

    package init(redaction: Redaction? = nil, transform: EventTransform? = nil) {
        self.redaction = redaction
        self.transform = transform
    }

    /// The event with all that this says done; nil where that changes nothing. `hash` names a value that is to be hashed.
    /// `parser` reads what comes in between, and is reset.
    package func applied(
        to event: [UInt8], with parser: JSONParser, hash: (_ value: [UInt8]) -> String
    ) throws(ShapingFailure) -> [UInt8]? {
        let redacted = try self.redacted(event, with: parser, hash: hash)
        return try transformed(redacted ?? event, with: parser) ?? redacted
    }

    /// The first half; nil where there is nothing to redact.
    package func redacted(
        _ event: [UInt8], with parser: JSONParser, hash: (_ value: [UInt8]) -> String
    ) throws(ShapingFailure) -> [UInt8]? {
        guard let redaction else { return nil }
        return redaction.redacted(try Self.parse(event, with: parser), hash: hash)
    }

    /// The second half, of an event that has been redacted and has its media; nil where nothing is to be made of it.
    package func transformed(_ event: [UInt8], with parser: JSONParser) throws(ShapingFailure) -> [UInt8]? {
        guard let transform else { return nil }
        let value = try Self.parse(event, with: parser)
        do throws(RenderingFailure) {
            return try transform.applied(to: value, with: parser)
        } catch {
            throw .rendering(error)
        }
    }

    private static func parse(_ event: [UInt8], with parser: JSONParser) throws(ShapingFailure) -> JSONValue {
        parser.reset()
        do throws(JSONError) {
            return try parser.parse(event)
        } catch {
            throw .unreadable
        }
    }
}

/// Why an event did not get its shape.
package enum ShapingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is larger than a parser takes.
    case unreadable
    /// The config changed while the event waited for its media.
    case unknown
    case rendering(RenderingFailure)

    package var description: String {
        switch self {
        case .unreadable: "the event is too large"
        case .unknown: "the config does not have it any more"
        case .rendering(let failure): failure.description
        }
    }
}
