import NIOCore

/// Limits of one connection to the provider endpoints. docs/reference/http.md lists them. The values are defaults;
/// tests shorten them.
struct ProviderLimits: Sendable {
    /// From the TCP connection to the first bytes of HTTP, including the TLS handshake.
    var handshake: TimeAmount = .seconds(15)
    /// From the first to the last byte of a header block.
    var headers: TimeAmount = .seconds(20)
    /// How far a request body may fall behind ``BodyDeadline/bytesPerSecond``.
    var bodyGrace: TimeAmount = .seconds(30)
    /// A client must read a response, or some of it, within this time.
    var readTime: TimeAmount = .seconds(75)
    /// Push services want connections to stay open, so this is long. The connection that has been idle longest closes
    /// when there are too many.
    var idle: TimeAmount = .hours(1)
    /// A silent HTTP/2 client receives a PING after this time, and must acknowledge it within the same time.
    var keepalive: TimeAmount = .minutes(5)
    /// An older connection is asked to reconnect, so a new certificate reaches every client.
    var age: TimeAmount = .hours(24)
    /// From the first GOAWAY until the second one, unless the client acknowledges the PING between them.
    var announcement: TimeAmount = .seconds(1)
    /// From a GOAWAY until the connection closes with requests in progress. Also the time to acknowledge the PING to a
    /// client whose window runs out.
    var grace: TimeAmount = .seconds(30)
    /// Between two checks of the deadlines of a connection.
    var check: TimeAmount = .seconds(1)
    /// Requests in progress on an HTTP/2 connection.
    var streams = 1000
    /// Bytes of a decoded header block.
    var headerList = 8000
    /// The flow-control window of a stream.
    var streamWindow = 65_535
    /// The flow-control window of a connection. Bodies are read at once, so it does not bound their memory.
    var connectionWindow = 1 << 20
    /// The connection ends when fewer bytes of its window are left, and the client has read the bodies so far without
    /// extending it: error bodies beyond the window would never reach the client.
    var leastWindow = 16 * 1024
}
