internal import COpenSSL
import Foundation

/// The sockets of a client's connections, by which it is seen whether a connection may be used again.
///
/// A class because all transfers of a client share it.
final class OpenSockets: @unchecked Sendable {
    // Sendable: it belongs to the client's thread.
    /// By local port; an entry may be of a connection that is closed.
    private var descriptors: [Int32: Int32] = [:]

    /// Notes which of these descriptors has this local port.
    func note(_ opened: [Int32], port: Int32) {
        if let descriptor = opened.first(where: { Self.port(of: $0) == port }) { descriptors[port] = descriptor }
    }

    /// Whether there is something to be read of a connection of HTTP/1 on which nothing has been asked for, or its other side
    /// has closed it. `ssl`: OpenSSL's object, where it speaks TLS.
    func hasLeftovers(port: Int32, ssl: UnsafeMutableRawPointer?) -> Bool {
        if let ssl {
            // In HTTP/2 frames may come at any time, and say which request they belong to.
            if sb_ssl_speaks_http2(ssl) != 0 { return false }
            if sb_ssl_pending(ssl) > 0 { return true }
        }
        guard let descriptor = descriptors[port], Self.port(of: descriptor) == port else { return false }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EINTR)
    }

    /// Nil for what is no socket with a port.
    private static func port(of descriptor: Int32) -> Int32? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return nil }
                return Int32(address.pointee.port)
            }
        }
    }
}
