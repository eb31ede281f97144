/// The flow-control windows of a connection (RFC 9113, 5.2). A pure value.
struct PeerWindow {
    /// Bytes that the client may always send on the connection.
    var target = 65_535
    /// Bytes that the client still accepts on the connection.
    var outbound = 65_535
    /// Whether the client ever extended the window of the connection.
    var isExtended = false

    /// The increment for a window of this size; nil while at least half of it is left.
    func increment(from size: Int) -> Int? { size <= target / 2 ? target - size : nil }

    /// Whether a client that never extends its window will soon receive no further body. One client library (aioapns)
    /// would then wait for them without end. It connects again after GOAWAY.
    func isRunningOut(limits: ProviderLimits) -> Bool { !isExtended && outbound < limits.leastWindow }
}
