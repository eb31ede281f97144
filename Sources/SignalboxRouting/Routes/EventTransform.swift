package import SignalboxConfig
package import SignalboxJSON

/// How other data are made of an event: by a template that writes JSON, or by a map of names to places in the event.
package enum EventTransform: Sendable, Equatable {
    case template(EventTemplate)
    case map([DataField])

    /// The event with those data in place of its own. It says no more which schema they follow. `parser`: reads what a
    /// template made.
    package func applied(to event: JSONValue, with parser: JSONParser) throws(RenderingFailure) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 2048)
        json.beginObject()
        event.forEachMember { key, value in
            if key.equals("data") || key.equals("dataschema") { return }
            json.key(utf8: key)
            json.value(value)
        }
        json.key("data")
        switch self {
        case .map(let fields): json.fields(fields, of: event)
        case .template(let template):
            let output = try template.render(event, with: parser)
            do throws(JSONError) {
                // On one line, however the template wrote it.
                json.value(try parser.parse(output))
            } catch {
                throw .notJSON(error.offset.map { TextPosition(offset: $0, in: output) })
            }
        }
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func fields(_ fields: [DataField], of event: JSONValue) {
        beginObject()
        for field in fields {
            switch field.source {
            case .object(let inner):
                key(field.name)
                self.fields(inner, of: event)
            case .pointer(let pointer):
                guard let value = pointer.value(in: event) else { continue }
                key(field.name)
                self.value(value)
            }
        }
        endObject()
    }
}
