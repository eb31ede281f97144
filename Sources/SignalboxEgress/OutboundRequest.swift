package import SignalboxNotification

/// An HTTP request to somebody else's server.
package struct OutboundRequest: Sendable {
    package enum Method: Sendable { case get, post, options }

    /// So many bytes a second on average, over so many seconds.
    package struct Pace: Sendable, Equatable {
        package var bytesPerSecond: Int
        package var seconds: Int

        package init(bytesPerSecond: Int, seconds: Int) {
            self.bytesPerSecond = bytesPerSecond
            self.seconds = seconds
        }
    }

    package var method: Method
    /// `http` or `https`.
    package var url: String
    /// Names in lower case; none of them holds a line end.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// From the start to the last byte of the reply.
    package var timeout: Duration
    /// How much of the reply's body to keep, up to 256 KiB; a longer one is not read to its end.
    package var keptBytes: Int
    /// Names of headers of the reply to keep, in lower case: the first of each.
    package var keptHeaders: [String]
    /// Names of headers whose values are lists (RFC 9110, 5.3): all of each name are kept, joined by commas.
    package var keptLists: [String] = []
    /// How much of a header to keep.
    package var keptHeaderBytes = 1024
    /// Gets the body of a reply with status 200, however long; there is no excerpt then.
    package var sink: ReplySink?
    /// What is slower than this is given up before its time is over.
    package var slowest: Pace?
    package var transport: TransportOptions

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
