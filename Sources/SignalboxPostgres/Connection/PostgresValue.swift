import Foundation
import SignalboxNotification
import SignalboxStore

/// An argument of a statement, sent in PostgreSQL's binary format. All integers are sent as `bigint`; an assignment to
/// a smaller column converts them, and an expression needs a cast.
enum PostgresValue: Sendable {
    /// `bigint`; nil is NULL.
    case number(Int64?)
    /// `boolean`, never NULL.
    case flag(Bool)
    /// `text`; nil is NULL. U+FFFD replaces a NUL character, which the server does not store.
    case text(String?)
    /// `bytea`; nil is NULL, and an empty array is an empty value.
    case bytes([UInt8]?)
    /// `bigint[]`, whose nil elements are NULL. An empty array is not NULL, so `= ANY` of it matches no row.
    case numbers([Int64?])
    /// `boolean[]`, a byte for each element.
    case flags([Bool])
    /// `text[]`; NUL characters are replaced as in `text`.
    case texts([String?])
    /// `bytea[]`; the server limits the whole array to 1 GB.
    case manyBytes([[UInt8]?])
    /// `uuid[]`, 16 bytes for each element.
    case ids([EventID])

    /// Milliseconds since 1970.
    static func time(_ date: Date?) -> PostgresValue { .number(date?.milliseconds) }

    static func destination(_ name: DestinationName) -> PostgresValue { .text(name.name) }
}

/// The binary format of arguments (PostgreSQL 15, chapter 55.7).
extension PostgresValue {
    /// The object identifier of the type in `pg_type`, which never changes for built-in types.
    var type: UInt32 {
        switch self {
        case .number: 20
        case .flag: 16
        case .text: 25
        case .bytes: 17
        case .numbers: 1016
        case .flags: 1000
        case .texts: 1009
        case .manyBytes: 1001
        case .ids: 2951
        }
    }

    /// Appends the value; returns false, and appends nothing, for NULL.
    func encode(into buffer: inout [UInt8]) -> Bool {
        switch self {
        case .number(let number):
            guard let number else { return false }
            buffer.append(bigEndian: number)
        case .flag(let flag): buffer.append(flag ? 1 : 0)
        case .text(let text):
            guard let text else { return false }
            buffer.append(text: text)
        case .bytes(let bytes):
            guard let bytes else { return false }
            buffer.append(contentsOf: bytes)
        case .numbers(let numbers):
            Self.encode(numbers, of: 20, into: &buffer) {
                $1.append(bigEndian: Int32(8))
                $1.append(bigEndian: $0)
            }
        case .flags(let flags):
            Self.encode(flags, of: 16, into: &buffer) {
                $1.append(bigEndian: Int32(1))
                $1.append($0 ? 1 : 0)
            }
        case .texts(let texts): Self.encode(texts, of: 25, into: &buffer) { $1.append(element: $0) }
        case .manyBytes(let list):
            Self.encode(list, of: 17, into: &buffer) {
                $1.append(bigEndian: Int32($0.count))
                $1.append(contentsOf: $0)
            }
        case .ids(let ids):
            Self.encode(ids, of: 2950, into: &buffer) {
                $1.append(bigEndian: Int32(16))
                $1.append(bigEndian: $0.words.high)
                $1.append(bigEndian: $0.words.low)
            }
        }
        return true
    }

    /// An array of one dimension, whose indices begin at 1. An empty array has no dimension. The header has the number
    /// of dimensions, 1 if an element is NULL, and the type of the elements; then the length and the first index. Each
    /// element follows its length in bytes, which is -1 for NULL. All of these have 32 bits, big-endian.
    private static func encode<Element>(
        _ elements: [Element?], of type: Int32, into buffer: inout [UInt8], each: (Element, inout [UInt8]) -> Void
    ) {
        buffer.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
        buffer.append(bigEndian: Int32(elements.contains { $0 == nil } ? 1 : 0))
        buffer.append(bigEndian: type)
        guard !elements.isEmpty else { return }
        buffer.append(bigEndian: Int32(elements.count))
        buffer.append(bigEndian: Int32(1))
        for element in elements {
            if let element { each(element, &buffer) } else { buffer.append(bigEndian: Int32(-1)) }
        }
    }
}

extension [UInt8] {
    /// PostgreSQL's texts cannot contain a NUL: U+FFFD replaces it.
    fileprivate mutating func append(text: String) {
        if text.utf8.contains(0) {
            append(contentsOf: text.replacing("\0", with: "\u{FFFD}").utf8)
        } else {
            append(contentsOf: text.utf8)
        }
    }

    /// The text with its length before it.
    fileprivate mutating func append(element text: String) {
        let start = count
        append(bigEndian: Int32(text.utf8.count))
        append(text: text)
        // Longer if the text has a NUL.
        let length = Int32(count - start - 4).bigEndian
        Swift.withUnsafeBytes(of: length) { replaceSubrange(start..<start + 4, with: $0) }
    }

    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
