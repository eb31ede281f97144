/// What became of a request, with what a log of attempts needs to know of it.
package struct OutboundResult: Sendable {
    package var answer: Result<OutboundReply, TransportError>
    /// The address and port that the connection led to, such as `203.0.113.7:443` or `[2001:db8::1]:443`: with a proxy,
    /// the proxy's. Of a connection that did not come about, the last that was tried; nil when none was.
    package var remoteAddress: String?
    /// From handing the request in to the end of the reply or the failure.
    package var duration: Duration

    package init(
        _ answer: Result<OutboundReply, TransportError>, remoteAddress: String? = nil, duration: Duration = .zero
    ) {
        self.answer = answer
        self.remoteAddress = remoteAddress
        self.duration = duration
    }
}

/// What came back.
package struct OutboundReply: Sendable, Equatable {
    package let status: Int
    /// The first bytes of the body as they came, never decoded: as many as the request asked to keep.
    package let excerpt: [UInt8]
    /// `Retry-After` (RFC 9110, 10.2.3); nil when there is none or it is malformed.
    package let retryAfter: RetryAfter?

    /// Of the headers that the request asked to keep, those that are there, as much of each as it asked for.
    package let headers: [String: String]

    package init(
        status: Int, excerpt: [UInt8] = [], retryAfter: RetryAfter? = nil, headers: [String: String] = [:]
    ) {
        self.status = status
        self.excerpt = excerpt
        self.retryAfter = retryAfter
        self.headers = headers
    }
}
