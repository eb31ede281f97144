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

/// The length of a key with its first four bytes, and its last four, as they lie in the parser's string buffer: the
/// length, the bytes, a NUL. The buffer is padded (simdjson, `document::allocate`), so that eight bytes can be read of
/// the shortest. The last four of a shorter key begin in its length.
@usableFromInline
package struct JSONKeyHead: Sendable, Equatable, BitwiseCopyable {
    @usableFromInline let word: UInt64
    @usableFromInline let last: UInt32

    @inlinable
    init(at string: UnsafePointer<UInt8>) {
        let raw = UnsafeRawPointer(string)
        let word = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
        let length = word & 0xFFFF_FFFF
        self.word = word & Self.mask(forLength: length)
        last = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: Int(length), as: UInt32.self))
    }

    @inlinable @inline(__always)
    init(_ key: StaticString) {
        let length = key.utf8CodeUnitCount
        var word = UInt64(truncatingIfNeeded: length)
        if length > 0 { word |= UInt64(key.utf8Start[0]) << 32 }
        if length > 1 { word |= UInt64(key.utf8Start[1]) << 40 }
        if length > 2 { word |= UInt64(key.utf8Start[2]) << 48 }
        if length > 3 { word |= UInt64(key.utf8Start[3]) << 56 }
        self.word = word
        if length < 4 {
            last = UInt32(truncatingIfNeeded: word >> UInt64(length * 8))
        } else {
            let first = UInt32(key.utf8Start[length - 4]) | UInt32(key.utf8Start[length - 3]) << 8
            last = first | UInt32(key.utf8Start[length - 2]) << 16 | UInt32(key.utf8Start[length - 1]) << 24
        }
    }

    @inline(__always)
    func isHead(of string: UnsafePointer<UInt8>) -> Bool {
        let other = UInt64(littleEndian: UnsafeRawPointer(string).loadUnaligned(as: UInt64.self))
        return other & Self.mask(forLength: word & 0xFFFF_FFFF) == word
    }

    /// The upper bits tell keys apart. Of some pairs of factors, with this one the fewest objects of the fixtures have
    /// keys that look alike.
    @inlinable @inline(__always)
    var hash: UInt64 { word &* 0x5851_F42D_4C95_7F2D &+ UInt64(last) &* 0x9E37_79B9_7F4A_7C15 }

    /// Leaves out what lies behind a short key.
    @inlinable @inline(__always)
    static func mask(forLength length: UInt64) -> UInt64 { length < 4 ? ~(~0 << (32 + length * 8)) : ~0 }
}
