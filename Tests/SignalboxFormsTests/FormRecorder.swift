import SignalboxJSON
import SignalboxTesting

/// Keeps the forms of messages that tests read and write, so that a validator that is not ours checks each of them
/// against the JSON Schema. `Tests/validate-events.py` expects them in an envelope, next to events.
enum FormRecorder {
    static func record(_ form: [UInt8]) throws {
        let parser = JSONParser()
        // On one line.
        let value = try withExtendedLifetime(parser) { JSONText(try parser.parse(form)) }
        var json = JSONWriter()
        json.beginObject()
        json.member("dataschema", "urn:signalbox:schema:inapp-message:1")
        json.member("form", value)
        json.endObject()
        EventRecorder.record(json.bytes)
    }
}
