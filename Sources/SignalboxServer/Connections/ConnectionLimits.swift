import NIOCore

/// What one connection may cost. docs/operations.md states these limits.
struct ConnectionLimits: Sendable {
    /// After this time without a request, or without progress of one, the connection is closed.
    var idle: TimeAmount = .seconds(75)
    /// A client that does not read must take ``readProgress`` bytes of a pending response within this time.
    var readTime: TimeAmount = .seconds(75)
    var readProgress = 16 * 1024
    /// A request body may fall behind ``BodyDeadline/bytesPerSecond`` by this time.
    var bodyGrace: TimeAmount = .seconds(30)
    /// Most bytes of later requests that are kept when a client ends its input early.
    var heldBytes = 256 * 1024
}
