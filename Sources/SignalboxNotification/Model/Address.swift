import Foundation

/// An IPv4 or IPv6 address, as bytes in network order.
package struct IPAddress: Sendable, Hashable {
    /// 4 or 16 of them.
    package let bytes: [UInt8]

    /// Reads dotted-decimal IPv4 or any RFC 4291 text form of IPv6, without zone; nil for anything else.
    package init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        // C would read no further than the NUL.
        if text.utf8.contains(0) {
            return nil
        } else if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// From 4 or 16 bytes in network order.
    package init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "An address has 4 or 16 bytes.")
        self.bytes = bytes
    }

    package var isIPv6: Bool { bytes.count == 16 }
}

extension IPAddress: CustomStringConvertible {
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A block of addresses in CIDR notation (RFC 4632, RFC 4291).
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    package let first: IPAddress
    package let prefixLength: Int

    /// Reads `10.0.0.0/8` or `fd00::/8`; a bare address is a range of one. Nil when it is neither, or when bits behind
    /// the prefix are set, which is more often a slip than meant.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let bits = address.bytes.count * 8
        guard parts.count == 2 else {
            (first, prefixLength) = (address, bits)
            return
        }
        guard parts[1].allSatisfy(\.isNumber), let length = Int(parts[1]), (0...bits).contains(length) else {
            return nil
        }
        (first, prefixLength) = (address, length)
        guard (length..<bits).allSatisfy({ address.bytes[$0 / 8] & (0x80 >> ($0 % 8)) == 0 }) else { return nil }
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let whole = prefixLength / 8
        guard address.bytes[..<whole] == first.bytes[..<whole] else { return false }
        let rest = prefixLength % 8
        guard rest > 0 else { return true }
        let mask = ~(UInt8(0xFF) >> rest)
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }

    package var description: String { "\(first)/\(prefixLength)" }
}
