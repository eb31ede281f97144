import Foundation

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address differs from the IPv4 address in it.
package struct IPAddress: Sendable, Hashable {
    /// The address as one number: below 2³² for IPv4.
    package let bits: UInt128
    /// Also true for IPv4-mapped addresses.
    package let isIPv6: Bool

    /// `bits`: below 2³² for IPv4.
    package init(bits: UInt128, isIPv6: Bool) { (self.bits, self.isIPv6) = (bits, isIPv6) }

    /// Reads 4 or 16 bytes in network order.
    package init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "An address has 4 or 16 bytes.")
        self.init(bits: bytes.reduce(0) { $0 << 8 | UInt128($1) }, isIPv6: bytes.count == 16)
    }

    /// Reads dotted-decimal IPv4 or any RFC 4291 text form of IPv6, without a zone; nil for anything else.
    package init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        // C would stop at the NUL.
        if text.utf8.contains(0) {
            return nil
        } else if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: four) { Array($0) })
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self.init(bytes: withUnsafeBytes(of: six) { Array($0) })
        } else {
            return nil
        }
    }

    /// Number of bits: 32 or 128.
    package var width: Int { isIPv6 ? 128 : 32 }

    /// 4 or 16 bytes in network order.
    package var bytes: [UInt8] {
        stride(from: width - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt128($0)) }
    }
}

extension IPAddress: CustomStringConvertible {
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A block of addresses that share a prefix (RFC 4632, RFC 4291).
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    /// The lowest address, whose bits after the prefix are 0.
    package let first: IPAddress
    /// Number of leading bits that all addresses share.
    package let prefixLength: Int

    /// The block around an address, whose bits after the prefix do not count. `prefixLength`: at most the address's
    /// width, which makes a block of one address.
    package init(around address: IPAddress, prefixLength: Int) {
        precondition((0...address.width).contains(prefixLength), "A prefix is no longer than its address.")
        self.prefixLength = prefixLength
        first = IPAddress(bits: address.bits & ~Self.hostBits(address.width - prefixLength), isIPv6: address.isIPv6)
    }

    /// Reads `10.0.0.0/8` or `fd00::/8`; a bare address is a range with one address. Nil for anything else, and when
    /// bits after the prefix are set, which is usually a mistake.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        var length = address.width
        if parts.count == 2 {
            guard parts[1].allSatisfy(\.isNumber), let number = Int(parts[1]), (0...length).contains(number) else {
                return nil
            }
            length = number
        }
        self.init(around: address, prefixLength: length)
        guard first == address else { return nil }
    }

    /// The last address as a number; see ``IPAddress/bits``.
    package var last: UInt128 { first.bits | Self.hostBits(first.width - prefixLength) }

    /// False for every address of the other family, mapped ones included.
    package func contains(_ address: IPAddress) -> Bool {
        address.isIPv6 == first.isIPv6 && first.bits <= address.bits && address.bits <= last
    }

    package var description: String { "\(first)/\(prefixLength)" }

    /// A number whose lowest `count` bits are set.
    private static func hostBits(_ count: Int) -> UInt128 { count == 128 ? .max : UInt128(1) << UInt128(count) - 1 }
}
