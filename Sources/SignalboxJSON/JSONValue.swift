/// A value inside a parsed document, read in place.
///
/// A view into the buffers of the ``JSONParser`` that made it, valid until that parser is reset. So a value never
/// outlives the function that received it and never crosses a concurrency boundary (it is not `Sendable`). Strings are
/// copied only by ``string``.
///
/// `@usableFromInline`, here and on the types around it, lets other targets inline what is `@inlinable`; members of a
/// type that is only `package` are called instead.
///
/// The tape's layout: https://github.com/simdjson/simdjson/blob/master/doc/tape.md
@usableFromInline
package struct JSONValue {
    @usableFromInline let tape: UnsafePointer<UInt64>
    @usableFromInline let strings: UnsafePointer<UInt8>
    @usableFromInline let index: Int

    @inlinable
    init(tape: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>, index: Int) {
        (self.tape, self.strings, self.index) = (tape, strings, index)
    }

    /// The type of a value. Numbers have three: `integer` fits an `Int64`, `unsigned` only a `UInt64`.
    @usableFromInline
    package enum Kind: Sendable {
        case object, array, string, integer, unsigned, double, bool, null
    }

    /// The type of the value: the highest byte of its word on the tape, a character as simdjson's format specifies.
    @inlinable var tag: UInt8 { UInt8(truncatingIfNeeded: tape[index] >> 56) }
    /// The lower 56 bits of the word: the offset of a string in the string buffer; for a container, the index after
    /// its end and above 32 bits the number of its members.
    @inlinable var payload: Int { Int(tape[index] & 0x00FF_FFFF_FFFF_FFFF) }

    /// The index after this value on the tape, in constant time, even for containers. Numbers occupy two words.
    @inlinable var next: Int {
        @inline(__always) get {
            let tag = tag
            if tag == UInt8(ascii: "\"") { return index + 1 }
            if tag == UInt8(ascii: "{") || tag == UInt8(ascii: "[") { return payload & 0xFFFF_FFFF }
            let isNumber = tag == UInt8(ascii: "l") || tag == UInt8(ascii: "u") || tag == UInt8(ascii: "d")
            return isNumber ? index + 2 : index + 1
        }
    }

    /// The value at another index of the same tape.
    @inlinable
    func at(_ index: Int) -> JSONValue { JSONValue(tape: tape, strings: strings, index: index) }

    /// Identifies this value in its document: above 0, and below 2³¹ for texts of up to a gigabyte.
    @inlinable package var tapeIndex: Int { index }

    /// The value with a ``tapeIndex`` in this value's document.
    @inlinable
    package func value(atTapeIndex index: Int) -> JSONValue { at(index) }

    /// The type of this value.
    @inlinable package var kind: Kind {
        switch tag {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "l"): .integer
        case UInt8(ascii: "u"): .unsigned
        case UInt8(ascii: "d"): .double
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        default: .null
        }
    }

    /// True for an object, without the cost of ``kind``, as the next three.
    @inlinable package var isObject: Bool { tag == UInt8(ascii: "{") }
    /// True for an array.
    @inlinable package var isArray: Bool { tag == UInt8(ascii: "[") }
    /// True for a string, the empty one included.
    @inlinable package var isString: Bool { tag == UInt8(ascii: "\"") }
    /// True for `null`; an absent value has no ``JSONValue``.
    @inlinable package var isNull: Bool { tag == UInt8(ascii: "n") }

    /// True for an object or array without members.
    @inlinable package var isEmptyContainer: Bool { (isObject || isArray) && next == index + 2 }

    /// True when both are the same value of the same document.
    @inlinable package func isSamePlace(as other: JSONValue) -> Bool { tape == other.tape && index == other.index }

    /// True when this value comes before the other in one document. Values of different documents have an order, too,
    /// which lasts until the parser is reset.
    @inlinable package func precedes(_ other: JSONValue) -> Bool {
        tape == other.tape ? index < other.index : tape < other.tape
    }

    /// True when the other value is this one or within it.
    @inlinable package func contains(_ other: JSONValue) -> Bool {
        tape == other.tape && (index..<next).contains(other.index)
    }

    // MARK: Scalars

    /// The text of a string, unescaped, as UTF-8; nil for anything else. Borrowed like the value itself.
    @inlinable package var utf8: UnsafeBufferPointer<UInt8>? { isString ? stringBytes : nil }

    /// The bytes of a string or key, which must be one. The buffer has their count before them and a NUL after them.
    @inlinable var stringBytes: UnsafeBufferPointer<UInt8> {
        let start = strings + payload
        let count = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return UnsafeBufferPointer(start: start + 4, count: Int(count))
    }

    /// A copy of a string's text; nil for anything else.
    package var string: String? { isString ? String(parsed: stringBytes) : nil }

    /// A boolean; nil for anything else, such as `1` and `"true"`.
    @inlinable package var bool: Bool? {
        switch tag {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// A number that an `Int64` holds exactly, `3.0` included; nil for anything else.
    @inlinable package var integer: Int64? {
        switch tag {
        case UInt8(ascii: "l"): Int64(bitPattern: tape[index + 1])
        case UInt8(ascii: "u"): Int64(exactly: tape[index + 1])
        case UInt8(ascii: "d"): Int64(exactly: Double(bitPattern: tape[index + 1]))
        default: nil
        }
    }

    /// A number above `Int64.max`; nil for anything else.
    @inlinable package var unsigned: UInt64? { tag == UInt8(ascii: "u") ? tape[index + 1] : nil }

    /// Any number, rounded to a `Double`; nil for anything else.
    @inlinable package var double: Double? {
        switch tag {
        case UInt8(ascii: "d"): Double(bitPattern: tape[index + 1])
        case UInt8(ascii: "l"): Double(Int64(bitPattern: tape[index + 1]))
        case UInt8(ascii: "u"): Double(tape[index + 1])
        default: nil
        }
    }

    /// True when this is a string with exactly this text.
    @inlinable package func equals(_ text: StaticString) -> Bool { isString && stringBytes.equals(text) }

    // MARK: Containers

    /// The member of an object with this key; nil when there is none or this is not an object. Of repeated keys the
    /// last counts, as in JSON.parse and in Apple's and Google's parsers.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { member(JSONKey(key)) }
    }

    /// `isOnly`: the object has no key twice.
    @usableFromInline
    func member(_ key: JSONKey, isOnly: Bool = false) -> JSONValue? {
        guard isObject else { return nil }
        let end = next - 1
        var cursor = index + 1
        var found = 0
        while cursor < end {
            if key.isKey(at: strings + at(cursor).payload) {
                found = cursor + 1
                if isOnly { break }
            }
            cursor = at(cursor + 1).next
        }
        return found == 0 ? nil : at(found)
    }

    /// Calls `body` with the head of every key, repeated ones included.
    @inlinable
    func forEachKey(_ body: (JSONKeyHead) -> Void) {
        guard isObject else { return }
        let end = next - 1
        var cursor = index + 1
        while cursor < end {
            body(JSONKeyHead(at: strings + at(cursor).payload))
            cursor = at(cursor + 1).next
        }
    }

    /// The member with a key that is known only at run time; see ``subscript(_:)``.
    @inlinable
    package func member(_ key: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        guard isObject else { return nil }
        var found: JSONValue?
        var visited = 0
        for (name, value) in members {
            visited += 1
            if name.equals(key) { found = value }
        }
        JSONLookups.count(visited)
        return found
    }

    /// The member with a key that is known only at run time; see ``subscript(_:)``.
    package func member(searching key: JSONKey) -> JSONValue? {
        guard isObject else { return nil }
        JSONLookups.count(memberCount)
        return member(key)
    }

    /// The member with a key that is known only at run time; see ``subscript(_:)``.
    package func member(_ key: String) -> JSONValue? {
        var key = key
        return key.withUTF8 { member($0) }
    }

    /// The members of an object in the order of the text, repeated keys included; empty for any other value.
    @inlinable package var members: Members { Members(of: self) }

    /// The elements of an array in order; empty for any other value.
    @inlinable package var elements: Elements { Elements(of: self) }

    /// The members of an object. Each step takes constant time, even past a nested container. `next` returns the key
    /// unescaped.
    @usableFromInline
    package struct Members: Sequence, IteratorProtocol {
        @usableFromInline let container: JSONValue
        @usableFromInline var cursor: Int
        @usableFromInline let end: Int

        @inlinable
        init(of value: JSONValue) {
            container = value
            cursor = value.index + 1
            end = value.isObject ? value.next - 1 : cursor
        }

        @inlinable
        package mutating func next() -> (key: UnsafeBufferPointer<UInt8>, value: JSONValue)? {
            guard cursor < end else { return nil }
            let key = container.at(cursor).stringBytes
            let value = container.at(cursor + 1)
            cursor = value.next
            return (key, value)
        }
    }

    /// The elements of an array. Each step takes constant time, even past a nested container.
    @usableFromInline
    package struct Elements: Sequence, IteratorProtocol {
        @usableFromInline let container: JSONValue
        @usableFromInline var cursor: Int
        @usableFromInline let end: Int

        @inlinable
        init(of value: JSONValue) {
            container = value
            cursor = value.index + 1
            end = value.isArray ? value.next - 1 : cursor
        }

        @inlinable
        package mutating func next() -> JSONValue? {
            guard cursor < end else { return nil }
            let value = container.at(cursor)
            cursor = value.next
            return value
        }
    }
}
