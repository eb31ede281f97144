/// A JSON value as compact text: keeps a part of a payload beyond the parser's life without taking it apart.
package struct JSONText: Sendable, Equatable {
    /// UTF-8 without white space between tokens.
    package let bytes: [UInt8]

    /// The compact text of a value, without white space. Members keep their order; of repeated keys the last stays.
    package init(_ value: JSONValue) {
        var writer = JSONWriter()
        writer.value(value)
        bytes = writer.bytes
    }

    /// Takes over the output of a writer, which must be one whole value.
    package init(_ writer: consuming JSONWriter) { bytes = writer.bytes }

    /// The same as a string, copied.
    package var string: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONWriter {
    /// A value of a parsed document with everything in it; of repeated keys only the last is written.
    package mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .object:
            beginObject()
            value.forEachMember { key, member in
                self.key(utf8: key)
                self.value(member)
            }
            endObject()
        case .array:
            beginArray()
            for element in value.elements { self.value(element) }
            endArray()
        case .string: string(utf8: value.stringBytes)
        case .integer: integer(Int64(bitPattern: value.tape[value.index + 1]))
        case .unsigned: integer(value.tape[value.index + 1])
        case .double: double(Double(bitPattern: value.tape[value.index + 1]))
        case .bool: bool(value.bool == true)
        case .null: null()
        }
    }

    /// A value that was kept as text.
    package mutating func text(_ json: JSONText) { raw(json.bytes) }
}
