internal import COpenSSL
import Foundation
import SignalboxNotification

/// The sockets of a client's connections; tells whether a connection may be reused.
///
/// A class because all transfers of a client share it.
final class OpenSockets: @unchecked Sendable {
    // Sendable: only the client's thread uses it.
    /// Both directions, so that a reused descriptor replaces the entry of its closed connection. The entry of an open
    /// connection is always right: each new connection is recorded.
    private var connections: [Ends: Entry] = [:]
    private var ends: [Int32: Ends] = [:]

    /// Both ends of a connection. With a proxy, the remote end is the proxy's.
    struct Ends: Hashable {
        let remote: String
        let remotePort: Int32
        let localPort: Int32
    }

    private struct Entry {
        let descriptor: Int32
        /// When the last response ended; nil before the first one.
        var lastReply: ContinuousClock.Instant?
    }

    /// Records the descriptor of a new connection, when it is ready for the first request. `opened`: the descriptors
    /// that were opened for its addresses.
    func record(_ opened: [Int32], as connection: Ends) {
        let descriptor = opened.count == 1 ? opened.first : opened.first { Self.port(of: $0) == connection.localPort }
        guard let descriptor else { return }
        if let earlier = ends.updateValue(connection, forKey: descriptor),
            connections[earlier]?.descriptor == descriptor
        {
            connections[earlier] = nil
        }
        connections[connection] = Entry(descriptor: descriptor)
    }

    /// Records that a response has ended.
    func recordReply(on connection: Ends) { connections[connection]?.lastReply = .now }

    /// Whether a response has ended since then.
    func hasReplied(on connection: Ends, since time: ContinuousClock.Instant) -> Bool {
        guard let lastReply = connections[connection]?.lastReply else { return false }
        return lastReply >= time
    }

    /// True when an idle HTTP/1 connection has bytes to read, or its peer closed it. `ssl`: OpenSSL's object of a TLS
    /// connection. Reads nothing from the socket. False if the descriptor of the connection is unknown.
    func hasLeftovers(on connection: Ends, ssl: UnsafeMutableRawPointer?) -> Bool {
        if let ssl {
            // HTTP/2 frames may come at any time and name their request.
            if Self.speaksHTTP2(ssl) { return false }
            if sb_ssl_pending(ssl) > 0 { return true }
        }
        guard let descriptor = connections[connection]?.descriptor else { return false }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EINTR)
    }

    /// `ssl`: OpenSSL's object of a TLS connection; nil without TLS, where HTTP/2 is not used.
    static func speaksHTTP2(_ ssl: UnsafeMutableRawPointer?) -> Bool {
        guard let ssl else { return false }
        return sb_ssl_speaks_http2(ssl) != 0
    }

    /// The local port; nil for a descriptor without one.
    private static func port(of descriptor: Int32) -> Int32? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0 ? Int32(address.pointee.port) : nil
            }
        }
    }
}

extension IPAddress {
    /// The address of a socket; nil unless it is IPv4 or IPv6.
    init?(socketAddress: UnsafePointer<sockaddr>) {
        switch Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            self = socketAddress.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { IPAddress(bytes: Array($0)) }
            }
        case AF_INET6:
            self = socketAddress.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { IPAddress(bytes: Array($0)) }
            }
        default: return nil
        }
    }
}

extension sockaddr {
    /// The port, which IPv4 and IPv6 have at the same offset, in network order.
    var port: Int { withUnsafeBytes(of: sa_data) { Int($0[0]) << 8 | Int($0[1]) } }
}
