package import SignalboxJSON

/// How a route changes the events that its destinations receive: first the event is redacted, then new data are made
/// from the rest. The envelope stays, so every format and signature works as before. Made when the config is read,
/// and shared by all tasks.
package struct EventVariant: Sendable, Equatable {
    /// Applied first; nil for none.
    package var redaction: Redaction?
    /// Applied to the redacted event; nil for none.
    package var transform: EventTransform?

    /// A variant with neither changes no event.
    package init(redaction: Redaction? = nil, transform: EventTransform? = nil) {
        (self.redaction, self.transform) = (redaction, transform)
    }

    /// The event as the destinations receive it; nil if it is unchanged. `awaitsMedia`: leaves the transformation for
    /// later, when the event has its media. `allowance`: counts the work of the template. `hash`: returns the name that
    /// replaces a value. Resets the parser. Throws ``RenderingFailure/unreadable`` for an event beyond the parser's
    /// limits, and the failures of the template.
    package func applied(
        to event: [UInt8], awaitsMedia: Bool = false, within allowance: inout VariantAllowance,
        with parser: JSONParser, hash: (_ value: [UInt8]) -> String
    ) throws(RenderingFailure) -> [UInt8]? {
        let redacted = try redaction?.redacted(parser.parse(event: event), hash: hash)
        if awaitsMedia { return redacted }
        return try transformed(redacted ?? event, within: &allowance, with: parser) ?? redacted
    }

    /// Only the transformation, of an event that is redacted and has its media; nil if there is none. `parser` is
    /// reset. Throws the same failures as ``applied(to:awaitsMedia:within:with:hash:)``.
    package func transformed(
        _ event: [UInt8], within allowance: inout VariantAllowance, with parser: JSONParser
    ) throws(RenderingFailure) -> [UInt8]? {
        try transform?.applied(to: parser.parse(event: event), within: &allowance, with: parser)
    }
}

/// Writes the variants of events and counts failures. If a transformation fails, the variant's data are only a
/// warning that says why, because the transformation may have hidden the rest. Safe to use from any number of tasks
/// at once, each with a parser of its own.
package struct EventVariantWriter: Sendable {
    /// The code of that warning.
    package static let warning = "route.transform-failed"

    /// Counts matches and failures by route.
    package let counts: RouteCounts
    /// Keyed, so values cannot be guessed from their names.
    private let hash: @Sendable (_ value: [UInt8]) -> String

    /// `hash`: returns the name that replaces a redacted value, under the gateway's key.
    package init(counts: RouteCounts = RouteCounts(), hash: @escaping @Sendable (_ value: [UInt8]) -> String) {
        (self.counts, self.hash) = (counts, hash)
    }

    /// The event as a target receives it; nil if it is unchanged. `awaitsMedia`: leaves the transformation for later,
    /// when the event has its media. `allowance`: the rest for the variants of the event. The work of this one counts
    /// in it; the caller counts the bytes. `parser` is reset. Never throws: after a failure, and beyond the allowance,
    /// it returns an event with a warning, which the target receives instead.
    package func variant(
        of event: [UInt8], for target: RouteTable.Target, awaitsMedia: Bool = false,
        within allowance: inout VariantAllowance, with parser: JSONParser
    ) -> [UInt8]? {
        guard let variant = target.variant else { return nil }
        do throws(RenderingFailure) {
            guard !allowance.isExhausted else { throw .exhausted }
            return try variant.applied(
                to: event, awaitsMedia: awaitsMedia, within: &allowance, with: parser, hash: hash)
        } catch {
            return failed(event, route: target.route, error, with: parser)
        }
    }

    /// Applies the transformation that was left for later. Fails if the config no longer has the route or its
    /// transformation. `parser` is reset. The event is a redacted variant that was stored before its files arrived.
    /// Never throws.
    package func transformed(
        _ event: [UInt8], by route: String, of routes: RouteTable, with parser: JSONParser
    ) -> [UInt8] {
        let variant = routes.routes.first { $0.name == route }?.variant
        var allowance = VariantAllowance()
        do throws(RenderingFailure) {
            guard let bytes = try variant?.transformed(event, within: &allowance, with: parser) else {
                throw .unknownRoute
            }
            return bytes
        } catch {
            return failed(event, route: route, error, with: parser)
        }
    }

    /// The event with a warning in place of its data. Counts a failure of the route. The envelope stays, with the
    /// event's id.
    private func failed(
        _ event: [UInt8], route: String?, _ failure: RenderingFailure, with parser: JSONParser
    ) -> [UInt8] {
        if let route { counts.countFailure(of: route) }
        parser.reset()
        var json = JSONWriter(reservingCapacity: 512)
        json.beginEvent(like: try? parser.parse(event))
        json.object("data") { json in
            json.objects("warnings", of: [failure]) { json, failure in
                json.member("code", Self.warning)
                json.member("path", "")
                json.member("message", "The route's transformation failed: \(failure).")
            }
        }
        json.endObject()
        return json.bytes
    }
}

/// Why no variant or message could be made from an event.
package enum RenderingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The event is larger than a parser accepts.
    case unreadable
    /// The config changed while the event waited for its media.
    case unknownRoute
    /// The output exceeds ``EventTemplate/outputLimit``, or rendering takes too much work.
    case tooLarge
    /// The variants of the event exceed the ``VariantAllowance``.
    case exhausted
    /// The output of a JSON template is not JSON; from this position on, if known.
    case notJSON(TextPosition?)

    /// `output`: the text in which the parser found the fault.
    init(_ fault: JSONError, in output: [UInt8]) {
        self = .notJSON(fault.offset.map { TextPosition(offset: $0, in: output) })
    }

    /// A clause, used in warnings, in rejected templates and in reasons of dead letters. Names the position in the
    /// output, never its text.
    package var description: String {
        switch self {
        case .unreadable: "the event is too large"
        case .unknownRoute: "the config no longer has this transformation"
        case .tooLarge: "the template makes more than \(EventTemplate.outputLimit / 1024 / 1024) MiB"
        case .exhausted: "the forms of this event for all routes take more than \(VariantAllowance.words)"
        case .notJSON(let position): "the template output is not valid JSON" + Self.words(position)
        }
    }

    /// The position in parentheses, with a space before it; empty if it is unknown.
    static func words(_ position: TextPosition?) -> String {
        position.map { " (line \($0.line), column \($0.column))" } ?? ""
    }
}

/// Events are parsed again for variants and templates.
extension JSONParser {
    /// Parses an event and invalidates values parsed before. Throws ``RenderingFailure/unreadable`` only.
    func parse(event: [UInt8]) throws(RenderingFailure) -> JSONValue {
        reset()
        return try parse(event) { _ in RenderingFailure.unreadable }
    }
}

extension JSONWriter {
    /// Begins an event with all members of another event except its data and the schema that they follow. The caller
    /// writes `data` and ends the object.
    mutating func beginEvent(like event: JSONValue?) {
        beginObject()
        event?.forEachMember { key, value in
            if key.equals("data") || key.equals("dataschema") { return }
            self.key(utf8: key)
            self.value(value)
        }
    }
}
