import Foundation
import SignalboxJSON
import SignalboxNotification

/// Bodies of responses as bytes.
extension [UInt8] {
    /// Writes one JSON value. `capacity`: bytes to reserve; the buffer grows beyond it. The bytes are valid JSON if
    /// `write` writes exactly one value.
    static func json(capacity: Int = 0, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: capacity)
        write(&json)
        return json.bytes
    }
}

/// Objects and arrays that cannot stay open, and members of more types.
extension JSONWriter {
    /// Writes a value: in an object, `key` must come before it. Closes the object however many members `write` adds,
    /// so it cannot stay open.
    mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a member whose value is an array, with one value for each element. Writes an empty array when there are
    /// no elements. Evaluates the sequence once.
    mutating func array<Element>(
        _ name: StaticString, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes all digits; readers may round numbers above 2^53.
    mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
        key(name)
        integer(number)
    }

    /// `true` or `false`.
    mutating func member(_ name: StaticString, _ flag: Bool) {
        key(name)
        bool(flag)
    }

    /// Writes an empty array too. Escapes each string as JSON requires.
    mutating func member(_ name: StaticString, _ texts: [String]) {
        key(name)
        strings(texts)
    }

    /// Omits an absent date. RFC 3339 in UTC with milliseconds.
    mutating func member(_ name: StaticString, _ date: Date?) {
        if let date { member(name, Timestamp(date).text) }
    }
}
