/// Why no reply came. All of these may pass, except ``denied(_:)`` and ``unusable(_:)``.
package enum TransportError: Error, Sendable, Equatable {
    /// The address policy forbids the address; with the address and the reason.
    case denied(String)
    /// The name could not be resolved.
    case unresolved(String)
    /// Nobody took the connection.
    case refused(String)
    /// No secure connection came about; with libcurl's words about the handshake.
    case tls(String)
    /// The server has no certificate that says it is who was asked for; with libcurl's words about it.
    case certificate(String)
    /// Too late, and nothing of the request had been sent.
    case timeoutConnecting(String)
    /// Too late, and the server may have had the request.
    case timeoutReplying(String)
    /// This process has no descriptor left: the fault is ours, not the server's.
    case exhausted(String)
    /// The connection broke off, or what came over it was no reply; the server may have had the request.
    case interrupted(String)
    /// The request cannot be made at all, such as for a malformed URL.
    case unusable(String)
    /// The request needed an access token, and there was none to be had.
    case token(String)
    /// The client was shut down before an answer came.
    case stopped

    /// Whether another attempt may fare better.
    package var isTemporary: Bool {
        switch self {
        case .denied, .unusable: false
        default: true
        }
    }

    /// A short name that stays the same whatever the words become, for logs and metrics.
    package var code: String {
        switch self {
        case .denied: "denied"
        case .unresolved: "dns"
        case .refused: "refused"
        case .tls, .certificate: "tls"
        case .timeoutConnecting: "timeout-connect"
        case .timeoutReplying: "timeout-reply"
        case .exhausted: "exhausted"
        case .interrupted: "reset"
        case .unusable: "unusable"
        case .token: "token"
        case .stopped: "stopped"
        }
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .denied(let why): "address denied: \(why)"
        case .unresolved(let why): "name not resolved: \(why)"
        case .refused(let why): "not connected: \(why)"
        case .tls(let why), .certificate(let why): "TLS failed: \(why)"
        case .timeoutConnecting(let why): "timed out before the request was sent: \(why)"
        case .timeoutReplying(let why): "timed out waiting for the reply: \(why)"
        case .exhausted(let why): "no connection could be opened here: \(why)"
        case .interrupted(let why): "connection lost: \(why)"
        case .unusable(let why): "request impossible: \(why)"
        case .token(let why): "no access token: \(why)"
        case .stopped: "stopped before an answer came"
        }
    }
}
