/// An HTTP request to somebody else's server.
package struct OutboundRequest: Sendable {
    package enum Method: Sendable { case get, post }

    package var method: Method
    /// `http` or `https`.
    package var url: String
    /// Names in lower case; none of them holds a line end.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// From the start to the last byte of the reply.
    package var timeout: Duration

    package init(
        method: Method = .post, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(15)
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// What came back.
package struct OutboundReply: Sendable {
    package let status: Int
    /// The first kilobyte of the body.
    package let excerpt: [UInt8]
    /// `Retry-After` (RFC 9110, 10.2.3); nil when there is none or it is malformed.
    package let retryAfter: RetryAfter?

    package init(status: Int, excerpt: [UInt8] = [], retryAfter: RetryAfter? = nil) {
        self.status = status
        self.excerpt = excerpt
        self.retryAfter = retryAfter
    }
}

/// Why no reply came. All of these may pass, except ``denied(_:)`` and ``unusable(_:)``.
package enum TransportError: Error, Sendable, Equatable {
    /// The address policy forbids the address; with the address and the reason.
    case denied(String)
    /// The name could not be resolved.
    case unresolved(String)
    case refused(String)
    case tls(String)
    case timeout(String)
    /// This process has no descriptor left: the fault is ours, not the server's.
    case exhausted(String)
    /// The connection broke off.
    case interrupted(String)
    /// The request cannot be made at all, such as for a malformed URL.
    case unusable(String)
    /// The client was shut down before an answer came.
    case stopped

    /// Whether another attempt may fare better.
    package var isTemporary: Bool {
        switch self {
        case .denied, .unusable: false
        default: true
        }
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .denied(let why): "address denied: \(why)"
        case .unresolved(let why): "name not resolved: \(why)"
        case .refused(let why): "not connected: \(why)"
        case .tls(let why): "TLS failed: \(why)"
        case .timeout(let why): "timed out: \(why)"
        case .exhausted(let why): "no connection could be opened here: \(why)"
        case .interrupted(let why): "connection lost: \(why)"
        case .unusable(let why): "request impossible: \(why)"
        case .stopped: "stopped before an answer came"
        }
    }
}
