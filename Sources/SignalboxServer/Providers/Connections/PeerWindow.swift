import NIOCore

/// The flow-control windows of a connection (RFC 9113, 5.2). A pure value.
struct PeerWindow {
    /// Bytes that the client may always send on the connection.
    var target = 65_535
    /// Bytes that the client still accepts on the connection.
    var outbound = 65_535
    /// Whether the client ever extended the window of the connection.
    var isExtended = false

    /// The increment for a window of this size; nil while at least half of it is left. `size`: bytes that the client
    /// may send now.
    func increment(from size: Int) -> Int? { size <= target / 2 ? target - size : nil }

    /// The time of the PING after the bodies that used up the window; nil before.
    var probedAt: NIODeadline?

    /// Whether a client that has not extended its window will soon receive no further body. One client library
    /// (aioapns) never extends it, and would wait for bodies without end.
    func isRunningOut(limits: ProviderLimits) -> Bool { !isExtended && outbound < limits.leastWindow }

    /// Whether the time to extend the window after the PING is over.
    func isOver(at now: NIODeadline, limits: ProviderLimits) -> Bool {
        guard !isExtended, let probedAt else { return false }
        return now - probedAt >= limits.grace
    }
}
