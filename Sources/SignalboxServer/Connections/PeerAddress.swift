import Foundation
import NIOCore

/// The network that a connection comes from: an IPv4 address, or the first 64 bits of an IPv6 address.
///
/// One host usually owns a whole IPv6 prefix of 64 bits, so limits per host count the prefix (RFC 6177, 2). Behind a
/// proxy, all clients share the proxy's address.
struct PeerAddress: Hashable, Sendable {
    /// The first 64 bits of an IPv6 address, or all 32 of an IPv4 address; 0 without an address.
    private let prefix: UInt64
    /// Tells equal numbers of both families apart. False without an address.
    private let isIPv6: Bool

    /// Connections without an IP address share one value.
    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let address): self.init(address.address.sin_addr)
        case .v6(let address): self.init(address.address.sin6_addr)
        case .unixDomainSocket, nil: self.init(prefix: 0, isIPv6: false)
        }
    }

    /// `prefix`: in host order. IPv4 addresses use the low 32 bits.
    private init(prefix: UInt64, isIPv6: Bool) { (self.prefix, self.isIPv6) = (prefix, isIPv6) }

    private init(_ address: in_addr) {
        self.init(prefix: UInt64(UInt32(bigEndian: address.s_addr)), isIPv6: false)
    }

    /// An IPv4-mapped address equals the IPv4 address, so a client counts once on either socket.
    private init(_ address: in6_addr) {
        let (high, low) = withUnsafeBytes(of: address) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        // An IPv4 client of a socket that listens on IPv6 (RFC 4291, 2.5.5.2).
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        self.init(prefix: isMapped ? low & 0xFFFF_FFFF : high, isIPv6: !isMapped)
    }
}
