package import SignalboxJSON

extension JSONText {
    /// The text of an object that `write` writes, on one line. `write` begins and ends the object.
    package static func object(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        write(&json)
        return JSONText(json).string
    }

    /// The text of an object whose members `write` writes, on one line.
    package static func members(_ write: (inout JSONWriter) -> Void) -> String {
        object { json in
            json.beginObject()
            write(&json)
            json.endObject()
        }
    }
}
