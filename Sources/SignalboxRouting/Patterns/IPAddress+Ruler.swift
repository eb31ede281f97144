import SignalboxNotification

// CIDR conditions read text as Ruler's `CIDR` class does: four decimal numbers, leading zeros allowed, or hexadecimal
// groups of IPv6 without a zone and without a dotted end. An IPv4 address mapped into IPv6 is the IPv4 address.

/// Operands of `cidr`.
extension AddressRange {
    /// Reads `10.0.0.0/8` or `2001:db8::/32`, with a prefix shorter than an address, as Ruler requires. Ignores the
    /// bits after the prefix. Nil for anything else. `10.0.0.5/8` is the block `10.0.0.0/8`. For patterns; the
    /// prefix has at most three digits.
    init?(ruler text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(ruler: String(parts[0])), parts[1].utf8.count <= 3,
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let length = Int(parts[1]), length < address.width
        else { return nil }
        self.init(around: address, prefixLength: length)
    }
}

extension IPAddress {
    /// Longest text that is parsed as an address, in bytes.
    static let longestRulerText = 64

    /// As below, for a string.
    fileprivate init?(ruler text: String) {
        var text = text
        guard let address = text.withUTF8({ IPAddress(ruler: $0) }) else { return nil }
        self = address
    }

    /// The address that the whole text spells; nil for any other text. At most ``longestRulerText`` bytes are parsed;
    /// it allocates for IPv6 only.
    init?(ruler text: UnsafeBufferPointer<UInt8>) {
        // Most texts are rejected by their first byte.
        guard let byte = text.first, byte == UInt8(ascii: ":") || Self.digit(byte) != nil,
            text.count <= Self.longestRulerText,
            let address = text.contains(UInt8(ascii: ":")) ? Self.six(text) : Self.four(text)
        else { return nil }
        self = address
    }

    /// The value of a hexadecimal digit.
    private static func digit(_ byte: UInt8) -> UInt128? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt128(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt128(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt128(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Four decimal numbers up to 255, in at most 15 bytes. Leading zeros are decimal, not octal: `010.0.0.1` is
    /// 10.0.0.1.
    private static func four(_ text: UnsafeBufferPointer<UInt8>) -> IPAddress? {
        guard text.count <= 15 else { return nil }
        var (bits, group, digits, dots): (UInt128, UInt128, Int, Int) = (0, 0, 0, 0)
        for byte in text {
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                bits = bits << 8 | group
                (group, digits, dots) = (0, 0, dots + 1)
            } else {
                guard let value = digit(byte), value < 10 else { return nil }
                group = group * 10 + value
                digits += 1
                guard group <= 255 else { return nil }
            }
        }
        return digits > 0 && dots == 3 ? IPAddress(bits: bits << 8 | group, isIPv6: false) : nil
    }

    /// Hexadecimal groups, with `::` at most once. A group may have any number of leading zeros. Nil for a single
    /// colon at either end.
    private static func six(_ text: UnsafeBufferPointer<UInt8>) -> IPAddress? {
        var groups: [UInt128] = []
        var gap: Int?
        var cursor = 0
        if text.count >= 2, text[0] == UInt8(ascii: ":") {
            guard text[1] == UInt8(ascii: ":") else { return nil }
            (gap, cursor) = (0, 2)
        }
        while cursor < text.count {
            var (group, digits): (UInt128, Int) = (0, 0)
            while cursor < text.count, let value = digit(text[cursor]) {
                group = group << 4 | value
                guard group <= 0xFFFF else { return nil }
                digits += 1
                cursor += 1
            }
            guard digits > 0, groups.count < 8 else { return nil }
            groups.append(group)
            guard cursor < text.count else { break }
            guard text[cursor] == UInt8(ascii: ":"), cursor + 1 < text.count else { return nil }
            cursor += 1
            guard text[cursor] == UInt8(ascii: ":") else { continue }
            guard gap == nil else { return nil }
            (gap, cursor) = (groups.count, cursor + 1)
        }
        return six(groups, gap: gap)
    }

    /// Fills the gap of `::` with zeros. A gap stands for one group or more.
    private static func six(_ groups: [UInt128], gap: Int?) -> IPAddress? {
        guard gap == nil ? groups.count == 8 : groups.count < 8 else { return nil }
        let zeros = [UInt128](repeating: 0, count: 8 - groups.count)
        let all = groups[..<(gap ?? 8)] + zeros + groups[(gap ?? 8)...]
        let bits = all.reduce(0) { $0 << 16 | $1 }
        // ::ffff:0:0/96 (RFC 4291, 2.5.5.2)
        if bits >> 32 == 0xFFFF { return IPAddress(bits: bits & 0xFFFF_FFFF, isIPv6: false) }
        return IPAddress(bits: bits, isIPv6: true)
    }
}
