import NIOCore

/// Limits of one connection. docs/reference/http.md lists them. The values are defaults; tests shorten them.
struct ConnectionLimits: Sendable {
    /// The connection is closed after this time without a request, or without progress of one.
    var idle: TimeAmount = .seconds(75)
    /// A client must read ``readProgress`` bytes of a pending response within this time.
    var readTime: TimeAmount = .seconds(75)
    /// Bytes. The connection of a client that reads fewer of them within ``readTime`` closes.
    var readProgress = 16 * 1024
    /// How far a request body may fall behind ``BodyDeadline/bytesPerSecond``.
    var bodyGrace: TimeAmount = .seconds(30)
    /// Bytes of later requests that are buffered when a client ends its input early. Beyond them the connection closes.
    var heldBytes = 256 * 1024
}
