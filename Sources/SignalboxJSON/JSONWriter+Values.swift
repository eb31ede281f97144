extension JSONWriter {
    /// A value of a parsed document with all that is in it; of repeated keys only the last is written.
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
}
