/// The length of a key and its first four bytes in one word, as they lie in the parser's memory: comparing it tells
/// most keys apart in one step.
@usableFromInline
struct JSONKeyHead: Equatable {
    @usableFromInline let word: UInt64

    /// The head of the string that stands at a place in the parser's string buffer: its length, its bytes, a NUL. The
    /// buffer is padded (simdjson, `document::allocate`), so that eight bytes can be read even of the shortest.
    @inlinable
    init(at string: UnsafePointer<UInt8>) {
        let word = UInt64(littleEndian: UnsafeRawPointer(string).loadUnaligned(as: UInt64.self))
        let length = word & 0xFFFF_FFFF
        // Behind a short key comes something else.
        self.word = length < 4 ? word & ~(~0 << (32 + length * 8)) : word
    }

    /// The head of a key in the source: a constant once it is compiled.
    @inlinable @inline(__always)
    init(_ key: StaticString) {
        var word = UInt64(truncatingIfNeeded: key.utf8CodeUnitCount)
        if key.utf8CodeUnitCount > 0 { word |= UInt64(key.utf8Start[0]) << 32 }
        if key.utf8CodeUnitCount > 1 { word |= UInt64(key.utf8Start[1]) << 40 }
        if key.utf8CodeUnitCount > 2 { word |= UInt64(key.utf8Start[2]) << 48 }
        if key.utf8CodeUnitCount > 3 { word |= UInt64(key.utf8Start[3]) << 56 }
        self.word = word
    }

    @inlinable @inline(__always)
    static func == (left: JSONKeyHead, right: JSONKeyHead) -> Bool { left.word == right.word }

    /// One of 64 bits, for sets that may err to one side.
    @inlinable @inline(__always)
    var bit: UInt64 { 1 << ((word &* 0x9E37_79B9_7F4A_7C15) >> 58) }
}
