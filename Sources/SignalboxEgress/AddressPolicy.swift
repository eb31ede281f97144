package import SignalboxNotification

/// Decides which addresses the process may connect to: global unicast, and ranges that the config allows.
///
/// Pure. The client asks it for every address that it is about to open a socket to, after name resolution.
package struct AddressPolicy: Sendable, Equatable {
    private let allow: [AddressRange]

    /// `allow`: special-purpose ranges to allow. Each range permits addresses that the built-in list would deny; the
    /// list itself cannot be narrowed.
    package init(allow: [AddressRange] = []) { self.allow = allow }

    /// Allows every address: for requests to an address that the operator typed.
    package static let unrestricted = AddressPolicy(allow: ["0.0.0.0/0", "::/0"].map(range))

    /// Why an address is denied, such as `loopback`; nil when it is allowed. An allowed range of IPv4 also allows the
    /// addresses that IPv6 maps into it. Ranges of the config win over the built-in list. The reason is a fixed
    /// phrase, fit for a log or an error message.
    package func denial(of address: IPAddress) -> String? {
        if allow.contains(where: { $0.contains(address) }) { return nil }
        if let mapped = address.mappedIPv4, allow.contains(where: { $0.contains(mapped) }) { return nil }
        if let range = Self.special.first(where: { $0.ranges.contains { $0.contains(address) } }) {
            return range.reason
        }
        return address.isIPv6 && !Self.globalUnicast.contains(address) ? "not global unicast" : nil
    }

    private static let globalUnicast = range("2000::/3")

    /// The IANA special-purpose registries (iana.org/assignments/iana-ipv4-special-registry and -ipv6-) and
    /// everything outside unicast. Within 2000::/3 also ranges that embed another address, which would bypass this
    /// list. The first match counts.
    private static let special: [(reason: String, ranges: [AddressRange])] = [
        ("this network", ["0.0.0.0/8"]),
        ("unspecified", ["::/128"]),
        ("loopback", ["127.0.0.0/8", "::1/128"]),
        ("private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]),
        ("carrier-grade NAT", ["100.64.0.0/10"]),
        ("link-local", ["169.254.0.0/16", "fe80::/10"]),
        ("site-local", ["fec0::/10"]),
        ("multicast", ["224.0.0.0/4", "ff00::/8"]),
        ("reserved", ["240.0.0.0/4"]),
        ("protocol assignments", ["192.0.0.0/24", "2001::/23"]),
        ("documentation", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"]),
        ("AS112", ["192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"]),
        ("AMT", ["192.52.193.0/24"]),
        ("6to4 relay", ["192.88.99.0/24"]),
        ("6to4", ["2002::/16"]),
        ("benchmarking", ["198.18.0.0/15"]),
        ("IPv4-compatible", ["::/96"]),
        ("IPv4-mapped", ["::ffff:0:0/96"]),
        ("IPv4-translated", ["::ffff:0:0:0/96"]),
        ("NAT64", ["64:ff9b::/96", "64:ff9b:1::/48"]),
        ("discard", ["100::/64"]),
        ("segment routing", ["5f00::/16"]),
    ].map { (reason, ranges) in (reason, ranges.map(range)) }

    /// Parses a built-in range. A malformed range is a programming error and stops the process.
    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is not an address range.") }
        return range
    }
}

extension IPAddress {
    /// The IPv4 address inside `::ffff:a.b.c.d`, which the kernel uses for the connection.
    fileprivate var mappedIPv4: IPAddress? {
        isIPv6 && bits >> 32 == 0xFFFF ? IPAddress(bits: bits & 0xFFFF_FFFF, isIPv6: false) : nil
    }
}
