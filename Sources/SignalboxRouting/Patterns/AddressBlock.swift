/// The addresses that a CIDR notation stands for, of IPv4 or of IPv6.
///
/// Read as Ruler's `CIDR` reads: four decimal numbers, leading zeros allowed, or hexadecimal groups of IPv6 without a
/// zone and without a dotted end; an IPv4 address mapped into IPv6 is the IPv4 address. Bits behind the prefix are let
/// go.
struct AddressBlock: Sendable, Hashable {
    struct Address: Sendable, Hashable {
        let bits: UInt128
        let isIPv6: Bool
    }

    let first: Address
    let last: UInt128

    /// Longest text that is parsed as an address, in bytes.
    static let longestText = 64

    /// One address.
    init(_ address: Address) {
        first = address
        last = address.bits
    }

    /// Reads `10.0.0.0/8` or `2001:db8::/32`, with a prefix shorter than an address, as Ruler asks. Nil for anything
    /// else.
    init?(cidr text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = Self.address(parts[0]), parts[1].utf8.count <= 3,
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let length = Int(parts[1])
        else { return nil }
        let width = address.isIPv6 ? 128 : 32
        guard length < width else { return nil }
        let host = (UInt128(1) << (width - length)) &- 1
        first = Address(bits: address.bits & ~host, isIPv6: address.isIPv6)
        last = address.bits | host
    }

    func contains(_ address: Address) -> Bool {
        address.isIPv6 == first.isIPv6 && first.bits <= address.bits && address.bits <= last
    }

    static func address(_ text: Substring) -> Address? {
        var text = String(text)
        return text.withUTF8 { address($0) }
    }

    /// The address that a text is as a whole; nil for any other text.
    static func address(_ text: UnsafeBufferPointer<UInt8>) -> Address? {
        // Most texts are told apart by their first byte.
        guard let byte = text.first, byte == UInt8(ascii: ":") || digit(byte) != nil, text.count <= longestText
        else {
            return nil
        }
        return text.contains(UInt8(ascii: ":")) ? six(text) : four(text)
    }

    private static func digit(_ byte: UInt8) -> UInt128? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt128(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt128(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt128(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private static func four(_ text: UnsafeBufferPointer<UInt8>) -> Address? {
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
        return digits > 0 && dots == 3 ? Address(bits: bits << 8 | group, isIPv6: false) : nil
    }

    private static func six(_ text: UnsafeBufferPointer<UInt8>) -> Address? {
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

    private static func six(_ groups: [UInt128], gap: Int?) -> Address? {
        guard gap == nil ? groups.count == 8 : groups.count < 8 else { return nil }
        let zeros = [UInt128](repeating: 0, count: 8 - groups.count)
        let all = groups[..<(gap ?? 8)] + zeros + groups[(gap ?? 8)...]
        let bits = all.reduce(0) { $0 << 16 | $1 }
        // ::ffff:0:0/96 (RFC 4291, 2.5.5.2)
        if bits >> 32 == 0xFFFF { return Address(bits: bits & 0xFFFF_FFFF, isIPv6: false) }
        return Address(bits: bits, isIPv6: true)
    }
}
