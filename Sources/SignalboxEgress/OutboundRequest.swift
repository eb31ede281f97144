package import SignalboxNotification

/// An HTTP request to another server.
package struct OutboundRequest: Sendable {
    /// The request method. Redirects do not change it, because none is followed.
    package enum Method: Sendable { case get, post, options }

    /// An average number of bytes a second, over a number of seconds.
    package typealias Pace = (bytesPerSecond: Int, seconds: Int)

    /// Only `post` sends the body.
    package var method: Method
    /// `http` or `https`.
    package var url: String
    /// Names in lower case, without line ends.
    package var headers: [(name: String, value: String)]
    /// Sent unchanged, with its length.
    package var body: [UInt8]
    /// From the start to the last byte of the response.
    package var timeout: Duration
    /// Bytes of the response's body to keep. A body that is longer than these and 256 KiB is not read to its end.
    /// Memory grows with the body, not with this number.
    package var keptBytes: Int
    /// Response headers to keep, in lower case: the first of each name.
    package var keptHeaders: [String]
    /// Response headers to keep whose values are lists (RFC 9110, 5.3): all of each name, joined by commas.
    package var keptLists: [String] = []
    /// Further response headers to keep when the status is not 2xx.
    package var failureHeaders: [String] = []
    /// Bytes of each header to keep.
    package var keptHeaderBytes = 1024
    /// Receives the body of a response with status 200, of any length, instead of the excerpt.
    package var sink: ReplySink?
    /// A slower body of a sink fails before the timeout. The wait for its first byte does not count.
    package var slowest: Pace?
    /// Seconds without a byte from the server after which the request fails, even before its head. Nil: only the
    /// timeout bounds the wait.
    package var longestSilence: Int?
    /// Connections are shared by requests with equal options only.
    package var transport: TransportOptions
    /// Nil for connections that all requests without a group share. Requests of one group share one connection to
    /// their host, and no other request uses it. Streams beyond the server's limit wait within their timeout. Without
    /// HTTP/2, which needs TLS, requests of a group are sent one after the other.
    package var group: ConnectionGroup?
    /// True to send only the given headers, besides those of the connection. Otherwise libcurl adds `accept`, and
    /// `content-type` to a body without one.
    package var isVerbatim = false

    /// The defaults are those of deliveries, except that those have the timeout of their destination.
    package init(
        method: Method = .post, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(15), keptBytes: Int = 1024, keptHeaders: [String] = [],
        transport: TransportOptions = TransportOptions()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.keptBytes = keptBytes
        self.keptHeaders = keptHeaders
        self.transport = transport
    }
}

extension OutboundRequest {
    /// The fields that `connection` fields name, in lower case: they concern the connection to the sender, so a request
    /// that is passed on must not have them (RFC 9110, 7.6.1). `headers`: received ones, with names in lower case.
    package static func connectionOptions(in headers: [(name: String, value: String)]) -> Set<String> {
        Set(
            headers.filter { $0.name == "connection" }
                .flatMap { $0.value.lowercased().split { ", \t".contains($0) } }.map(String.init))
    }
}

/// The name of a connection that only requests of one sender use. Compare ``OutboundRequest/group``.
package struct ConnectionGroup: Sendable, Hashable {
    private let name: [UInt8]

    /// `name`: any bytes, such as a digest. Equal names mean the same group.
    package init(_ name: [UInt8]) { self.name = name }

    /// Bounds of the groups of one client.
    package struct Limits: Sendable {
        /// A further group ends the one that has been idle longest. Without an idle one, its requests fail with
        /// ``TransportError/exhausted(_:)``.
        package var most: Int = 256
        /// A group without requests ends after this time. The default suits connections that push services want to
        /// stay open.
        package var idle: Duration = .seconds(900)
    }
}

/// Receives the body of a response with status 200 piece by piece.
///
/// Both closures run on the client's thread, which serves all its requests: they must not block. They run one after
/// the other, never after the request has its result. When one returns false, the connection is closed and the
/// response counts as complete.
package struct ReplySink: Sendable {
    /// A response as known when its body begins.
    package struct Head: Sendable, Equatable {
        /// See ``OutboundReply/headers``.
        package let headers: [String: String]
        /// The announced length; nil when there is none.
        package let announcedBytes: Int?

        /// The defaults are those of a response without the headers that the request asked for, and without a length.
        package init(headers: [String: String] = [:], announcedBytes: Int? = nil) {
            (self.headers, self.announcedBytes) = (headers, announcedBytes)
        }
    }

    /// Called once, before the first piece; not called for an empty body. Runs at status 200 only. False rejects the
    /// body: no piece follows.
    package let begin: @Sendable (Head) -> Bool
    /// Called with each piece, which is valid during the call. The sink copies bytes that it needs later. False ends
    /// the body.
    package let receive: @Sendable (UnsafeRawBufferPointer) -> Bool

    /// Creates a sink from its two steps.
    package init(
        begin: @escaping @Sendable (Head) -> Bool, receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) { (self.begin, self.receive) = (begin, receive) }
}

/// The outcome of a request, with details for a log of attempts.
package struct OutboundResult: Sendable {
    /// A response of any status, or the reason why there is none.
    package var answer: Result<OutboundReply, TransportError>
    /// Address and port of the connection, such as `203.0.113.7:443` or `[2001:db8::1]:443`; with a proxy, the
    /// proxy's. Without a connection the last address tried; nil when none was.
    package var remoteAddress: String?
    /// From the call to the end of the response or the failure.
    package var duration: Duration

    /// The defaults are for results that no connection was made for.
    package init(
        _ answer: Result<OutboundReply, TransportError>, remoteAddress: String? = nil, duration: Duration = .zero
    ) { (self.answer, self.remoteAddress, self.duration) = (answer, remoteAddress, duration) }
}

/// An HTTP response.
package struct OutboundReply: Sendable, Equatable {
    /// HTTP status, 100 to 999.
    package let status: Int
    /// The first bytes of the body, never decoded: up to ``OutboundRequest/keptBytes``.
    package let excerpt: [UInt8]
    /// `Retry-After`; nil when it is missing or malformed.
    package let retryAfter: RetryAfter?
    /// The headers that the request asked to keep, up to ``OutboundRequest/keptHeaderBytes`` of each.
    package let headers: [String: String]

    /// The defaults are those of a response without a body and without headers.
    package init(status: Int, excerpt: [UInt8] = [], retryAfter: RetryAfter? = nil, headers: [String: String] = [:]) {
        (self.status, self.excerpt, self.retryAfter, self.headers) = (status, excerpt, retryAfter, headers)
    }
}
