package import Foundation
package import SignalboxJSON

extension JSONWriter {
    /// Writes one CloudEvents 1.0 envelope in structured JSON. `schema`: the end of its `dataschema`, such as
    /// `interaction:1`; nil for data without a schema. `attributes` writes extension attributes, which follow
    /// `specversion`. `data` writes the members of the data.
    /// Source: github.com/cloudevents/spec, v1.0.2, spec.md and formats/json-format.md
    package mutating func cloudEvent(
        _ type: String, id: EventID, source: String, subject: String, at time: Date, schema: String? = nil,
        attributes: (inout JSONWriter) -> Void = { _ in }, data: (inout JSONWriter) -> Void
    ) {
        beginObject()
        key("specversion")
        string("1.0" as StaticString)
        attributes(&self)
        key("id")
        self.id(id)
        member("source", source)
        member("type", type)
        member("subject", subject)
        member("time", time)
        key("datacontenttype")
        string("application/json" as StaticString)
        member("dataschema", schema.map { "urn:signalbox:schema:" + $0 })
        object("data", data)
        endObject()
    }

    /// A member with RFC 3339 in UTC with milliseconds; no member for nil.
    package mutating func member(_ name: StaticString, _ date: Date?) { member(name, date.map { Timestamp($0).text }) }
}
