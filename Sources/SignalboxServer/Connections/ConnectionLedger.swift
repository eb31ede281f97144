import NIOCore

/// Decides which connections stay open, by peer, so that no peer locks out the others.
///
/// A peer has at most half of all connections. When connections run out, the peer with the most connections loses the
/// one that has been idle longest. A connection with a request in progress is never closed for another one. A pure
/// value; ``ConnectionTable`` locks it and closes channels. Replacing costs a scan of one peer's connections, or of
/// all connections when the table is full.
struct ConnectionLedger<ID: Hashable> {
    /// The decision about a new connection. The caller carries it out.
    enum Admission: Equatable {
        /// The connection stays open, and no other one has to close for it.
        case accepted
        /// The connection stays open, and this other connection must be closed.
        case acceptedInsteadOf(ID)
        /// The peer has used up its share, and none of its connections is idle.
        case refused
    }

    /// A connection without a request, and since when it has none.
    private typealias Idle = (id: ID, activity: ConnectionActivity, since: NIODeadline)

    /// Connections of all peers together.
    private let capacity: Int
    /// Connections of one peer.
    private let share: Int
    /// Connections of all peers. An evicted one counts until it is closed, so the value may exceed the capacity.
    private var count = PeakGauge()
    /// The open connections of each peer. A peer without a connection has no entry.
    private var peers: [PeerAddress: [ID: ConnectionActivity]] = [:]

    /// `capacity`: from this many connections on, each new one replaces an idle one.
    init(capacity: Int) {
        self.capacity = capacity
        share = max(1, capacity / 2)
    }

    /// Counts the new connection at once. An evicted connection counts until it is closed, and is not chosen again
    /// unless a request began on it meanwhile.
    mutating func open(_ id: ID, by peer: PeerAddress, _ activity: ConnectionActivity) -> Admission {
        let own = peers[peer] ?? [:]
        var evicted: Idle?
        if own.count >= share {
            evicted = Self.longestIdle(of: own)
            if evicted == nil { return .refused }
        } else if count.value >= capacity {
            evicted = longestIdleOfLargestPeer()
        }
        if let evicted { evicted.activity.markBusy() }
        peers[peer, default: [:]][id] = activity
        count.change(by: 1)
        return evicted.map { .acceptedInsteadOf($0.id) } ?? .accepted
    }

    /// Has no effect for an unknown connection.
    mutating func close(_ id: ID, by peer: PeerAddress) {
        guard peers[peer]?.removeValue(forKey: id) != nil else { return }
        count.change(by: -1)
        if peers[peer]?.isEmpty == true { peers[peer] = nil }
    }

    /// True once after a flood of connections has ended.
    mutating func hasFallen() -> Bool { count.hasFallen(from: 512) }

    /// Nil when every connection of every peer is busy: then the new connection is accepted beyond the capacity.
    private func longestIdleOfLargestPeer() -> Idle? {
        var found: (idle: Idle, connections: Int)?
        for connections in peers.values where connections.count > found?.connections ?? 0 {
            if let idle = Self.longestIdle(of: connections) { found = (idle, connections.count) }
        }
        return found?.idle
    }

    /// Nil when all of them are busy. Reads each of them.
    private static func longestIdle(of connections: [ID: ConnectionActivity]) -> Idle? {
        var found: Idle?
        for (id, activity) in connections {
            guard let since = activity.idleSince, found.map({ since < $0.since }) ?? true else { continue }
            found = (id, activity, since)
        }
        return found
    }
}
