extension JSONWriter {
    /// Bytes to reserve for a quoted text: six for each byte in the worst case, a comma, the quotes, and eight because
    /// the last word is written as a whole.
    static func roomToEscape(_ length: Int) -> Int { length * 6 + 11 }

    /// Copies a text and escapes it as RFC 8259 (7) requires, eight bytes at a time while none needs escaping. The
    /// caller must reserve ``roomToEscape(_:)`` bytes.
    mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        guard let base = text.baseAddress else { return }
        var source = UnsafeRawPointer(base)
        var left = text.count
        // A local pointer: the compiler must assume that every byte written could change the writer's own fields.
        var target = UnsafeMutableRawPointer(memory + count)
        while left > 0 {
            let word = left >= 8 ? source.loadUnaligned(as: UInt64.self) : Self.lastBytes(source, left)
            let escaped = Self.bytesToEscape(word)
            target.storeBytes(of: word, as: UInt64.self)
            let plain = escaped == 0 ? 8 : escaped.trailingZeroBitCount / 8
            target += plain
            source += plain
            left -= plain
            if escaped != 0, left > 0 {
                target += Self.escape(source.load(as: UInt8.self), into: target)
                source += 1
                left -= 1
            }
        }
        count = target - UnsafeMutableRawPointer(memory)
    }

    /// One to seven bytes as the first bytes of a word; the rest are zeros, which count as bytes to escape.
    @inline(__always)
    private static func lastBytes(_ source: UnsafeRawPointer, _ count: Int) -> UInt64 {
        if count >= 4 {
            let first = UInt64(source.loadUnaligned(as: UInt32.self))
            let last = UInt64(source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            return first | last << UInt64((count - 4) * 8)
        }
        let first = UInt64(source.load(as: UInt8.self))
        let middle = UInt64(source.load(fromByteOffset: count / 2, as: UInt8.self))
        let last = UInt64(source.load(fromByteOffset: count - 1, as: UInt8.self))
        return first | middle << UInt64(count / 2 * 8) | last << UInt64((count - 1) * 8)
    }

    /// Sets the highest bit of the first of eight bytes that needs escaping, and perhaps of bytes after it.
    private static func bytesToEscape(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (word &- ones &* 0x20) & ~word
        let hits = controls | ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)
        return hits & (ones &* 0x80)
    }

    /// Writes a byte as an escape and returns the escape's length.
    private static func escape(_ byte: UInt8, into target: UnsafeMutableRawPointer) -> Int {
        let short: UInt8? =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            default: nil
            }
        let escape = target.assumingMemoryBound(to: UInt8.self)
        escape[0] = UInt8(ascii: "\\")
        if let short {
            escape[1] = short
            return 2
        }
        let digits: StaticString = "0123456789abcdef"
        escape[1] = UInt8(ascii: "u")
        escape[2] = UInt8(ascii: "0")
        escape[3] = UInt8(ascii: "0")
        escape[4] = digits.utf8Start[Int(byte >> 4)]
        escape[5] = digits.utf8Start[Int(byte & 0xF)]
        return 6
    }
}
