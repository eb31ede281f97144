import Foundation
import SignalboxConfig
import SignalboxNotification

/// An address to listen on.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// A name or an address, an IPv6 address without brackets.
    package let host: String
    /// 0 requests any free port. At most 65535 when it was read from text.
    package let port: Int

    /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:0` or `:8080` (every address). Returns nil for other text. Text
    /// in brackets must be an IPv6 address; other hosts are not checked further.
    package init?(_ text: String) {
        guard let parts = GatewayConfig.Listen.hostAndPort(of: text) else { return nil }
        host = parts.host.isEmpty ? "0.0.0.0" : parts.host
        port = Int(parts.port)
    }

    /// Does not check or resolve the host.
    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// True when no other machine can connect to it. Names other than `localhost` are not resolved, and count as
    /// reachable.
    package var isLoopback: Bool {
        if host == "localhost" { return true }
        guard let address = IPAddress(host) else { return false }
        return address.isIPv6 ? address == IPAddress("::1") : address.bytes[0] == 127
    }

    /// The form that ``init(_:)`` reads. An IPv6 address has brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
