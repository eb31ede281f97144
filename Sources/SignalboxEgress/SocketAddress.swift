import Foundation
import SignalboxNotification

extension IPAddress {
    /// Of a socket; nil when it is of another family than IPv4 and IPv6.
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
    /// In the same place in both families, in network order.
    var port: Int {
        withUnsafeBytes(of: sa_data) { Int($0[0]) << 8 | Int($0[1]) }
    }
}
