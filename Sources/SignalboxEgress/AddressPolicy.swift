package import SignalboxNotification

/// Decides which addresses may be connected to: global unicast only, unless a range was allowed by name.
///
/// Pure; asked with the address that a socket is about to be opened to, after name resolution.
package struct AddressPolicy: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        case allowed
        /// With the reason, such as `loopback`.
        case denied(String)
    }

    private let allow: [AddressRange]

    /// `allow`: special-purpose ranges that may be connected to all the same.
    package init(allow: [AddressRange] = []) { self.allow = allow }

    package func verdict(for address: IPAddress) -> Verdict {
        if allow.contains(where: { $0.contains(address) }) { return .allowed }
        if let mapped = address.mappedIPv4, allow.contains(where: { $0.contains(mapped) }) { return .allowed }
        let special = address.isIPv6 ? SpecialPurpose.ipv6 : SpecialPurpose.ipv4
        if let found = special.first(where: { $0.range.contains(address) }) { return .denied(found.name) }
        if address.isIPv6, !SpecialPurpose.globalUnicast.contains(address) { return .denied("not global unicast") }
        return .allowed
    }
}

extension IPAddress {
    /// The IPv4 address inside `::ffff:a.b.c.d`, which the kernel connects to as IPv4.
    fileprivate var mappedIPv4: IPAddress? {
        isIPv6 && bits >> 32 == 0xFFFF ? IPAddress(bits: bits & 0xFFFF_FFFF, isIPv6: false) : nil
    }
}

/// The IANA special-purpose registries (iana.org/assignments/iana-ipv4-special-registry and -ipv6-), with what lies
/// outside unicast. Of 2000::/3, also what only carries another address: it would lead around this very list.
private enum SpecialPurpose {
    static let globalUnicast = range("2000::/3")

    static let ipv4: [(range: AddressRange, name: String)] = [
        (range("0.0.0.0/8"), "this network"),
        (range("10.0.0.0/8"), "private"),
        (range("100.64.0.0/10"), "carrier-grade NAT"),
        (range("127.0.0.0/8"), "loopback"),
        (range("169.254.0.0/16"), "link-local"),
        (range("172.16.0.0/12"), "private"),
        (range("192.0.0.0/24"), "protocol assignments"),
        (range("192.0.2.0/24"), "documentation"),
        (range("192.31.196.0/24"), "AS112"),
        (range("192.52.193.0/24"), "AMT"),
        (range("192.88.99.0/24"), "6to4 relay"),
        (range("192.168.0.0/16"), "private"),
        (range("192.175.48.0/24"), "AS112"),
        (range("198.18.0.0/15"), "benchmarking"),
        (range("198.51.100.0/24"), "documentation"),
        (range("203.0.113.0/24"), "documentation"),
        (range("224.0.0.0/4"), "multicast"),
        (range("240.0.0.0/4"), "reserved"),
    ]

    static let ipv6: [(range: AddressRange, name: String)] = [
        (range("::/128"), "unspecified"),
        (range("::1/128"), "loopback"),
        (range("::/96"), "IPv4-compatible"),
        (range("::ffff:0:0/96"), "IPv4-mapped"),
        (range("::ffff:0:0:0/96"), "IPv4-translated"),
        (range("64:ff9b::/96"), "NAT64"),
        (range("64:ff9b:1::/48"), "NAT64"),
        (range("100::/64"), "discard"),
        (range("2001::/23"), "protocol assignments"),
        (range("2001:db8::/32"), "documentation"),
        (range("2002::/16"), "6to4"),
        (range("2620:4f:8000::/48"), "AS112"),
        (range("3fff::/20"), "documentation"),
        (range("5f00::/16"), "segment routing"),
        (range("fc00::/7"), "private"),
        (range("fe80::/10"), "link-local"),
        (range("fec0::/10"), "site-local"),
        (range("ff00::/8"), "multicast"),
    ]

    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is no address range.") }
        return range
    }
}
