/// A key to look up, prepared so that one comparison tells most others from it.
@usableFromInline
package struct JSONKey {
    @usableFromInline let head: JSONKeyHead
    @usableFromInline let start: UnsafePointer<UInt8>
    @usableFromInline let length: Int

    /// A key in the source; a constant once it is compiled.
    @inlinable @inline(__always)
    package init(_ key: StaticString) {
        head = JSONKeyHead(key)
        start = key.utf8Start
        length = key.utf8CodeUnitCount
    }

    /// True when the string at a place in the parser's string buffer is this key.
    @inline(__always)
    func isKey(at string: UnsafePointer<UInt8>) -> Bool {
        // What follows a key's length and its first four bytes, of which the heads speak.
        head.isHead(of: string) && (length <= 4 || sameBytes(string + 8, start + 4, length - 4))
    }
}

/// The length of a key and its first four bytes in one word, as they lie in the parser's string buffer: the length, the
/// bytes, a NUL. The buffer is padded (simdjson, `document::allocate`), so that eight bytes can be read of the shortest.
@usableFromInline
struct JSONKeyHead {
    @usableFromInline let word: UInt64

    @inlinable
    init(at string: UnsafePointer<UInt8>) {
        let word = UInt64(littleEndian: UnsafeRawPointer(string).loadUnaligned(as: UInt64.self))
        self.word = word & Self.mask(forLength: word & 0xFFFF_FFFF)
    }

    @inlinable @inline(__always)
    init(_ key: StaticString) {
        var word = UInt64(truncatingIfNeeded: key.utf8CodeUnitCount)
        if key.utf8CodeUnitCount > 0 { word |= UInt64(key.utf8Start[0]) << 32 }
        if key.utf8CodeUnitCount > 1 { word |= UInt64(key.utf8Start[1]) << 40 }
        if key.utf8CodeUnitCount > 2 { word |= UInt64(key.utf8Start[2]) << 48 }
        if key.utf8CodeUnitCount > 3 { word |= UInt64(key.utf8Start[3]) << 56 }
        self.word = word
    }

    @inline(__always)
    func isHead(of string: UnsafePointer<UInt8>) -> Bool {
        let other = UInt64(littleEndian: UnsafeRawPointer(string).loadUnaligned(as: UInt64.self))
        return other & Self.mask(forLength: word & 0xFFFF_FFFF) == word
    }

    /// One of 64 bits, for sets that may err to one side.
    @inlinable @inline(__always)
    var bit: UInt64 { 1 << ((word &* 0x9E37_79B9_7F4A_7C15) >> 58) }

    /// Leaves out what lies behind a short key.
    @inlinable @inline(__always)
    static func mask(forLength length: UInt64) -> UInt64 { length < 4 ? ~(~0 << (32 + length * 8)) : ~0 }
}
