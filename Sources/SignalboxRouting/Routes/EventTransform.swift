package import SignalboxConfig
package import SignalboxJSON

/// How a route makes new data from an event: with a template that writes JSON, or with a map of names to JSON
/// Pointers. Both see the event after its redaction.
package enum EventTransform: Sendable, Equatable {
    /// The output of the template, which must be JSON.
    case template(EventTemplate)
    /// An object with these members.
    case map([DataField])

    /// The event with new data, and without `dataschema`, which no longer describes them. `parser`: parses the output
    /// of a template. The envelope keeps its other members and their order. A `map` never fails; pointers without a
    /// value leave their member out. `allowance`: counts the work of a template. Throws the failures of the template.
    package func applied(
        to event: JSONValue, within allowance: inout VariantAllowance, with parser: JSONParser
    ) throws(RenderingFailure) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 2048)
        json.beginEvent(like: event)
        json.key("data")
        switch self {
        case .map(let fields): json.object(fields, from: event)
        case .template(let template):
            let output = try template.render(event, within: &allowance, with: parser)
            // Rewritten, because an event is on one line and the template's output may not be.
            json.value(try parser.parse(output) { RenderingFailure($0, in: output) })
        }
        json.endObject()
        return json.bytes
    }
}

/// The output of a `map`.
extension JSONWriter {
    /// Writes an object of the fields whose pointers lead to a value. Recursive; the config bounds the nesting.
    fileprivate mutating func object(_ fields: [DataField], from event: JSONValue) {
        beginObject()
        for field in fields {
            switch field.source {
            case .object(let inner):
                key(field.name)
                object(inner, from: event)
            case .pointer(let pointer):
                guard let value = pointer.value(in: event) else { continue }
                key(field.name)
                self.value(value)
            }
        }
        endObject()
    }
}
