package import Foundation
package import SignalboxJSON

/// The identifier of an event: a UUID version 7 (RFC 9562), so that ids sort by time.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The time, the version, and 12 random bits.
    private let high: UInt64
    /// The variant and 62 random bits.
    private let low: UInt64

    /// Composes a time, clamped to 48 bits of milliseconds, and 74 random bits; the version and variant overwrite the
    /// rest.
    package init(at time: Date, random: (UInt64, UInt64)) {
        let exact = time.timeIntervalSince1970 * 1000
        let milliseconds = exact > 0 ? UInt64(min(exact.rounded(.down), 0xFFFF_FFFF_FFFF)) : 0
        high = milliseconds << 16 | 0x7000 | random.0 & 0x0FFF
        low = random.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// The 36 characters of the usual text form, in lower case.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.length) { text in
            spell(into: UnsafeMutableRawBufferPointer(text))
            return Self.length
        }
    }

    /// The last eight bytes: the variant and 62 random bits. Never zero.
    package var randomBits: UInt64 { low }

    /// The 16 bytes of the binary form (RFC 9562, section 4), as two numbers in network byte order.
    package var words: (high: UInt64, low: UInt64) { (high, low) }

    /// Length of the text form, in bytes.
    package static let length = 36

    /// Writes the text form, ASCII, into a buffer of at least ``length`` bytes.
    package func spell(into text: UnsafeMutableRawBufferPointer) {
        precondition(text.count >= Self.length, "The text form of an id has 36 characters.")
        let first = Self.hexadecimal(UInt32(truncatingIfNeeded: high >> 32))
        let second = Self.hexadecimal(UInt32(truncatingIfNeeded: high))
        let third = Self.hexadecimal(UInt32(truncatingIfNeeded: low >> 32))
        let dash = UInt8(ascii: "-")
        text.storeBytes(of: first, as: UInt64.self)
        text.storeBytes(of: dash, toByteOffset: 8, as: UInt8.self)
        text.storeBytes(of: second, toByteOffset: 9, as: UInt64.self)
        text.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
        text.storeBytes(of: dash, toByteOffset: 13, as: UInt8.self)
        text.storeBytes(of: dash, toByteOffset: 18, as: UInt8.self)
        text.storeBytes(of: third, toByteOffset: 19, as: UInt64.self)
        text.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
        text.storeBytes(of: dash, toByteOffset: 23, as: UInt8.self)
        text.storeBytes(of: Self.hexadecimal(UInt32(truncatingIfNeeded: low)), toByteOffset: 28, as: UInt64.self)
    }

    /// Eight hexadecimal digits, the first one at the lowest address.
    private static func hexadecimal(_ number: UInt32) -> UInt64 {
        // The digits' values spread over the bytes of a word, the first into the lowest.
        var values = UInt64(number.byteSwapped)
        values = (values | values << 16) & 0x0000_FFFF_0000_FFFF
        values = (values | values << 8) & 0x00FF_00FF_00FF_00FF
        values = (values >> 4 & 0x000F_000F_000F_000F) | (values & 0x000F_000F_000F_000F) << 8
        // 1 in each byte whose digit is a letter.
        let letters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (values &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).littleEndian
    }
}

extension JSONWriter {
    /// Writes the text form of an id.
    package mutating func id(_ id: EventID) {
        string(length: EventID.length) { id.spell(into: UnsafeMutableRawBufferPointer($0)) }
    }
}
