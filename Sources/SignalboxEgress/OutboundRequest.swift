package import SignalboxModel

/// An HTTP request to somebody else's server.
package struct OutboundRequest: Sendable {
    package enum Method: Sendable { case get, post, options }

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
    /// Names of headers of the reply to keep, in lower case.
    package var keptHeaders: [String]
    package var way: WayOut

    package init(
        method: Method = .post, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(15), keptBytes: Int = 1024, keptHeaders: [String] = [], way: WayOut = WayOut()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.keptBytes = keptBytes
        self.keptHeaders = keptHeaders
        self.way = way
    }
}
