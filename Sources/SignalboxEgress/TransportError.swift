/// Why a request received no response. The associated text is for people. Logs and metrics use ``code``; the retry
/// policy uses ``isTemporary``.
package enum TransportError: Error, Sendable, Equatable {
    /// The address policy forbids the address; with the address and the reason.
    case denied(String)
    /// The name could not be resolved.
    case unresolved(String)
    /// The connection was refused, or a proxy declined it.
    case refused(String)
    /// The TLS handshake failed.
    case tls(String)
    /// The server's certificate is not valid for its name.
    case certificate(String)
    /// Timed out before any of the request was sent.
    case timeoutConnecting(String)
    /// Timed out when the server may have the request.
    case timeoutReplying(String)
    /// This process is out of descriptors.
    case exhausted(String)
    /// The connection broke, or its bytes were not a response; the server may have the request.
    case interrupted(String)
    /// The request cannot be made, for instance because its URL is malformed.
    case unusable(String)
    /// The request needs an access token, and none could be obtained.
    case token(String)
    /// The client was stopped before the response came.
    case stopped

    /// True when another attempt may succeed. False only if the address or the request itself is at fault. It does
    /// not say whether the server has the request.
    package var isTemporary: Bool {
        switch self {
        case .denied, .unusable: false
        default: true
        }
    }

    /// A stable short name, for logs and metrics. Several cases share a name, for instance both failures of TLS.
    package var code: String { parts.code }

    /// Every ``code``, each once.
    package static let codes = [
        "denied", "dns", "refused", "tls", "timeout-connect", "timeout-reply", "exhausted", "reset", "unusable",
        "token", "stopped",
    ]

    /// The stable name, the sentence for people and the detail of each case.
    private var parts: (code: String, title: String, detail: String?) {
        switch self {
        case .denied(let detail): ("denied", "address denied", detail)
        case .unresolved(let detail): ("dns", "name not resolved", detail)
        case .refused(let detail): ("refused", "not connected", detail)
        case .tls(let detail), .certificate(let detail): ("tls", "TLS failed", detail)
        case .timeoutConnecting(let detail): ("timeout-connect", "timed out before the request was sent", detail)
        case .timeoutReplying(let detail): ("timeout-reply", "timed out waiting for the reply", detail)
        case .exhausted(let detail): ("exhausted", "no connection could be opened here", detail)
        case .interrupted(let detail): ("reset", "connection lost", detail)
        case .unusable(let detail): ("unusable", "request impossible", detail)
        case .token(let detail): ("token", "no access token", detail)
        case .stopped: ("stopped", "stopped before an answer came", nil)
        }
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String { parts.title + (parts.detail.map { ": " + $0 } ?? "") }
}
