/// Objects, arrays and members that cannot stay open.
extension JSONWriter {
    /// Writes an object; `write` writes its members. In an object, the key must come before it.
    @inlinable @inline(__always)
    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a member whose value is an object; `write` writes the members of that object.
    @inlinable @inline(__always)
    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        key(name)
        object(write)
    }

    /// Writes an array; `write` writes one element. In an object, the key must come before it.
    @inlinable @inline(__always)
    package mutating func array<Elements: Sequence>(
        of elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes a member whose value is an array; `write` writes one element.
    @inlinable @inline(__always)
    package mutating func array<Elements: Sequence>(
        _ name: StaticString, of elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        key(name)
        array(of: elements, write)
    }

    /// Writes a member whose value is an array; `write` writes its elements.
    @inlinable @inline(__always)
    package mutating func array(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        key(name)
        beginArray()
        write(&self)
        endArray()
    }

    /// Writes a member whose value is an array of objects; `write` writes the members of one.
    @inlinable @inline(__always)
    package mutating func objects<Elements: Sequence>(
        _ name: StaticString, of elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        array(name, of: elements) { json, element in json.object { write(&$0, element) } }
    }

    /// Writes an object with a member for each entry, in the order of the keys; `write` writes one value.
    package mutating func object<Value>(of entries: [String: Value], _ write: (inout JSONWriter, Value) -> Void) {
        beginObject()
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            self.key(key)
            write(&self, value)
        }
        endObject()
    }

    /// Writes a member whose value is an object with a member for each entry, in the order of the keys; `write` writes
    /// one value.
    package mutating func object<Value>(
        _ name: StaticString, of entries: [String: Value], _ write: (inout JSONWriter, Value) -> Void
    ) {
        key(name)
        object(of: entries, write)
    }

    /// A member with a string; no member for nil.
    package mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    /// A member with a value; no member for nil.
    package mutating func member(_ name: StaticString, _ json: JSONText?) { member(name, raw: json?.bytes) }

    /// A member whose value is JSON text already, which the writer does not check; no member for nil.
    package mutating func member(_ name: StaticString, raw json: [UInt8]?) {
        guard let json else { return }
        key(name)
        raw(json)
    }

    /// A member with a number and all its digits; no member for nil. Readers may round numbers above 2^53.
    @inlinable @inline(__always)
    package mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        key(name)
        integer(number)
    }

    /// A member with a number, which must be finite.
    package mutating func member(_ name: StaticString, double number: Double) {
        key(name)
        double(number)
    }

    /// A member with `true` or `false`; no member for nil.
    package mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        key(name)
        bool(flag)
    }

    /// A member with a list of strings, which may be empty.
    package mutating func member(_ name: StaticString, _ texts: [String]) {
        key(name)
        strings(texts)
    }

    /// A member with a list of strings; no member for an empty list.
    package mutating func member(_ name: StaticString, list texts: [String]) {
        if !texts.isEmpty { member(name, texts) }
    }
}

extension JSONText {
    /// The text of the value that `write` writes, on one line.
    package static func value(_ write: (inout JSONWriter) -> Void) -> String {
        String(decoding: [UInt8].json(write), as: UTF8.self)
    }

    /// The text of an object whose members `write` writes, on one line.
    package static func members(_ write: (inout JSONWriter) -> Void) -> String { value { $0.object(write) } }

    /// An object whose members `write` writes.
    package static func object(_ write: (inout JSONWriter) -> Void) -> JSONText {
        var json = JSONWriter()
        json.object(write)
        return JSONText(json)
    }
}

extension [UInt8] {
    /// The bytes of one JSON value. `write` must write exactly one. `capacity`: bytes to reserve; the buffer grows
    /// beyond it.
    package static func json(capacity: Int = 0, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: capacity)
        write(&json)
        return json.bytes
    }

    /// The bytes of an object whose members `write` writes.
    package static func jsonObject(capacity: Int = 0, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        json(capacity: capacity) { $0.object(write) }
    }

    /// The bytes of an object whose members `write` writes, and a line end.
    package static func jsonLine(_ write: (inout JSONWriter) -> Void) -> [UInt8] { jsonObject(write) + [0x0A] }
}
