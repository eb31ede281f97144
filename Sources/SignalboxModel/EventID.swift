package import Foundation

/// The identifier of an event: a UUID version 7 (RFC 9562), so that ids sort by time.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The 36 characters of the usual text form, in lower case.
    package let description: String

    /// From a time, clamped to the 48 bits of milliseconds that there are for it, and 74 random bits, of which the version
    /// and variant bits are overwritten.
    package init(at time: Date, random: (UInt64, UInt64)) {
        let exact = time.timeIntervalSince1970 * 1000
        let milliseconds = exact > 0 ? UInt64(min(exact.rounded(.down), 0xFFFF_FFFF_FFFF)) : 0
        let high = milliseconds << 16 | 0x7000 | random.0 & 0x0FFF
        let low = random.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        description = Self.text(high, low)
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            let digits: StaticString = "0123456789abcdef"
            var position = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = nibble < 16 ? high : low
                let shift = UInt64(60 - nibble % 16 * 4)
                text[position] = digits.utf8Start[Int(word >> shift & 0xF)]
                position += 1
            }
            return position
        }
    }
}
