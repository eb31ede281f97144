package import Foundation
package import SignalboxJSON

extension JSONWriter {
    /// Writes one CloudEvents 1.0 envelope in structured JSON. `schema`: the last words of its `dataschema`, such as
    /// `interaction:1`; nil for data that has none. `data` writes the members of the data.
    /// Source: github.com/cloudevents/spec, v1.0.2, spec.md and formats/json-format.md
    package mutating func cloudEvent(
        _ type: String, id: EventID, source: String, subject: String, at time: Date, schema: String? = nil,
        data: (inout JSONWriter) -> Void
    ) {
        beginObject()
        key("specversion")
        string("1.0" as StaticString)
        key("id")
        self.id(id)
        key("source")
        string(source)
        key("type")
        string(type)
        key("subject")
        string(subject)
        key("time")
        string(Timestamp(time).text)
        key("datacontenttype")
        string("application/json" as StaticString)
        if let schema {
            key("dataschema")
            string("urn:signalbox:schema:" + schema)
        }
        key("data")
        beginObject()
        data(&self)
        endObject()
        endObject()
    }
}
