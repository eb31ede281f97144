/// The first bytes of an untrusted file. Reading outside of them returns nil, so no offset can trap. Callers pass
/// offsets that the file itself states.
struct HeaderBytes {
    let bytes: [UInt8]

    /// The caller bounds the number of bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// Nil for negative offsets too.
    subscript(_ offset: Int) -> UInt8? { bytes.indices.contains(offset) ? bytes[offset] : nil }

    /// True when these bytes are at an offset. False if the bytes would reach beyond the end.
    func holds(bytes expected: some Collection<UInt8>, at offset: Int = 0) -> Bool {
        offset >= 0 && offset <= count - expected.count && bytes[offset...].starts(with: expected)
    }

    /// True when these ASCII characters are at an offset. Case-sensitive.
    func holds(_ text: StaticString, at offset: Int = 0) -> Bool {
        text.withUTF8Buffer { holds(bytes: $0, at: offset) }
    }

    /// An unsigned number of `size` bytes, most significant first. Nil for more than seven bytes, and if it would reach
    /// beyond the end.
    func big(_ size: Int, at offset: Int) -> Int? {
        guard offset >= 0, size < 8, offset <= count - size else { return nil }
        return bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
    }

    /// An unsigned number of `size` bytes, least significant first. Nil for more than seven bytes, and if it would
    /// reach beyond the end.
    func little(_ size: Int, at offset: Int) -> Int? {
        guard offset >= 0, size < 8, offset <= count - size else { return nil }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
