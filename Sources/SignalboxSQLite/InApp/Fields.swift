/// Writes a value as tagged fields: a version, then for each field its tag, the length of its content and the content.
/// A number is a zigzag varint, a text UTF-8, and a group a list of fields. A reader passes over unknown tags, so a
/// later version may add fields.
struct FieldWriter {
    /// Greater once a former reader would misread the fields.
    static let version: UInt8 = 1

    private(set) var bytes: [UInt8] = [version]

    mutating func add(_ tag: UInt8, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            bytes.append(tag)
            append(varint: UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    mutating func add(_ tag: UInt8, _ number: Int64) {
        // A varint has at most ten bytes, so its length has one.
        bytes += [tag, 0]
        let start = bytes.count
        append(varint: UInt64(bitPattern: (number << 1) ^ (number >> 63)))
        bytes[start - 1] = UInt8(bytes.count - start)
    }

    /// The bits of a number, as eight bytes.
    mutating func add(_ tag: UInt8, bits: UInt64) {
        bytes += [tag, 8]
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    }

    /// A field whose content `write` appends: a group.
    mutating func add(_ tag: UInt8, _ write: (inout FieldWriter) -> Void) {
        bytes.append(tag)
        let start = bytes.count
        write(&self)
        let end = bytes.count
        append(varint: UInt64(end - start))
        // The length belongs before the content.
        let length = Array(bytes[end...])
        bytes.removeSubrange(end...)
        bytes.insert(contentsOf: length, at: start)
    }

    /// A group with one field for each text; an empty list is written too.
    mutating func add(_ tag: UInt8, list: some Sequence<String>) {
        add(tag) { writer in for text in list { writer.add(1, text) } }
    }

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
struct FieldContent {
    private let bytes: Slice<UnsafeRawBufferPointer>

    /// Throws for bytes of a later version.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.first == FieldWriter.version else { throw DamagedValue("a list is of another version") }
        self.bytes = bytes.dropFirst()
    }

    private init(bytes: Slice<UnsafeRawBufferPointer>) { self.bytes = bytes }

    /// Calls `read` for each field, in their order.
    func forEach(_ read: (_ tag: UInt8, _ content: FieldContent) throws -> Void) throws {
        var rest = bytes
        while let tag = rest.popFirst() {
            let length = try Self.varint(&rest)
            guard length <= rest.count else { throw Self.damage }
            let content = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            try read(tag, FieldContent(bytes: content))
        }
    }

    func text() throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.damage }
        return text
    }

    func number() throws -> Int64 {
        var rest = bytes
        let number = try Self.varint(&rest)
        guard rest.isEmpty else { throw Self.damage }
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    func bits() throws -> UInt64 {
        guard bytes.count == 8 else { throw Self.damage }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    func texts() throws -> [String] {
        var texts: [String] = []
        try forEach { tag, content in if tag == 1 { texts.append(try content.text()) } }
        return texts
    }

    /// One of the values of an enumeration.
    func word<Word: RawRepresentable<String>>(as: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: try text()) else { throw Self.damage }
        return word
    }

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
    static let damage = DamagedValue("a list of in-app rows cannot be read")
}
