/// Writes a value as tagged fields: a version, then for each field its tag, the length of its content and the content.
/// A number is a zigzag varint, a text UTF-8, and a group a list of fields. A reader passes over unknown tags, so a
/// later version may add fields.
/// The form is that of Protocol Buffers in its idea, not in its bytes: a field has one byte for its tag, the length
/// of its content as an unsigned LEB128 number, and the content. Groups may nest.
package struct FieldWriter {
    /// Greater once a former reader would misread the fields.
    static let version: UInt8 = 1

    package private(set) var bytes: [UInt8]

    /// `capacity`: bytes to reserve.
    package init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
        bytes.append(Self.version)
    }

    /// A field whose content is a text, without a limit of its length.
    package mutating func add(_ tag: UInt8, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            bytes.append(tag)
            append(varint: UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// A field whose content is a number: one to ten bytes, fewer for numbers near zero.
    package mutating func add(_ tag: UInt8, _ number: Int64) {
        // A varint has at most ten bytes, so its length has one.
        append(tag, 0)
        let start = bytes.count
        append(varint: UInt64(bitPattern: (number << 1) ^ (number >> 63)))
        bytes[start - 1] = UInt8(bytes.count - start)
    }

    /// The bits of a number, as eight bytes.
    package mutating func add(_ tag: UInt8, bits: UInt64) {
        append(tag, 8)
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    }

    /// A field whose content `write` appends: a group.
    package mutating func add(_ tag: UInt8, _ write: (inout FieldWriter) -> Void) {
        append(tag, 0)
        let start = bytes.count
        write(&self)
        let length = bytes.count - start
        guard length >= 0x80 else {
            bytes[start - 1] = UInt8(length)
            return
        }
        // A longer length takes more bytes before the content.
        var prefix = FieldWriter(capacity: 10)
        prefix.bytes.removeAll()
        prefix.append(varint: UInt64(length))
        bytes.replaceSubrange((start - 1)..<start, with: prefix.bytes)
    }

    /// A group with one field for each text; an empty list is written too.
    package mutating func add(_ tag: UInt8, list: some Sequence<String>) {
        add(tag) { writer in for text in list { writer.add(1, text) } }
    }

    /// Without the array that a literal would make.
    private mutating func append(_ tag: UInt8, _ length: UInt8) {
        bytes.append(tag)
        bytes.append(length)
    }

    /// Seven bits in a byte, the least significant first; the upper bit is set in all bytes but the last.
    private mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// The content of a field, or of all fields, as ``FieldWriter`` writes it. Every read throws ``DamagedValue`` for
/// content that it cannot have written. Valid as long as the bytes below it.
/// Reads in place and copies texts only. It never traps: damaged content is an error.
package struct FieldContent {
    /// Not copied.
    private let bytes: Slice<UnsafeRawBufferPointer>

    /// Throws for bytes of a later version.
    package init(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.first == FieldWriter.version else { throw DamagedValue("a list is of another version") }
        self.bytes = bytes.dropFirst()
    }

    /// The content of a field, which has no version of its own.
    private init(bytes: Slice<UnsafeRawBufferPointer>) { self.bytes = bytes }

    /// Calls `read` for each field, in their order.
    /// Stops at the first error that `read` throws. Throws for a length beyond the end.
    package func forEach(_ read: (_ tag: UInt8, _ content: FieldContent) throws -> Void) throws {
        var rest = bytes
        while let tag = rest.popFirst() {
            let length = try Self.varint(&rest)
            guard length <= rest.count else { throw Self.damage }
            let content = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            try read(tag, FieldContent(bytes: content))
        }
    }

    /// Throws for invalid UTF-8.
    package func text() throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.damage }
        return text
    }

    /// Throws for content that is not exactly one varint. Any number of 64 bits may result, so sums with it need a
    /// check.
    package func number() throws -> Int64 {
        var rest = bytes
        let number = try Self.varint(&rest)
        guard rest.isEmpty else { throw Self.damage }
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// Throws unless the content has eight bytes.
    func bits() throws -> UInt64 {
        guard bytes.count == 8 else { throw Self.damage }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The texts of a group with one field for each; unknown tags are skipped.
    package func texts() throws -> [String] {
        var texts: [String] = []
        try forEach { tag, content in if tag == 1 { texts.append(try content.text()) } }
        return texts
    }

    /// One of the values of an enumeration.
    func word<Word: RawRepresentable<String>>(as: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: try text()) else { throw Self.damage }
        return word
    }

    /// Removes a varint from the front. Throws for one that is cut off or has more than ten bytes; bits beyond 64
    /// are dropped.
    private static func varint(_ rest: inout Slice<UnsafeRawBufferPointer>) throws -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw damage }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw damage
    }

    /// Never repeats the content.
    package static let damage = DamagedValue("a list of in-app rows cannot be read")
}
