import NIOCore
import Synchronization

/// All open connections of one server.
final class ConnectionTable: Sendable {
    // A class because all connections share it.

    /// Asks a connection to close, unless a request has begun on it.
    struct CloseIfIdle: Sendable {}

    /// Guarded by the lock. Ledger and channels name the same connections.
    private struct State {
        var ledger: ConnectionLedger<ObjectIdentifier>
        /// Keeps each channel alive until ``close(_:by:)``, so its identifier is not reused meanwhile.
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>
    /// Read by the page of metrics only, so no order with other values matters.
    private let evictedCount = Atomic(0)

    /// `capacity`: from this many connections on, each new one replaces an idle one.
    init(capacity: Int) { state = Mutex(State(ledger: ConnectionLedger(capacity: capacity))) }

    /// Registers a connection, and closes an idle one when there are too many. Returns false when the new one must
    /// close.
    func open(_ channel: any Channel, by peer: PeerAddress, _ activity: ConnectionActivity) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isAccepted, evicted) = state.withLock { state -> (Bool, (any Channel)?) in
            let admission = state.ledger.open(id, by: peer, activity)
            if admission == .refused { return (false, nil) }
            state.channels[id] = channel
            guard case .acceptedInsteadOf(let other) = admission else { return (true, nil) }
            return (true, state.channels[other])
        }
        if let evicted {
            evictedCount.add(1, ordering: .relaxed)
            evicted.triggerUserOutboundEvent(CloseIfIdle(), promise: nil)
        }
        return isAccepted
    }

    /// Called once for each registered connection, on its event loop.
    func close(_ channel: any Channel, by peer: PeerAddress) {
        let id = ObjectIdentifier(channel)
        state.withLock { state in
            state.ledger.close(id, by: peer)
            state.channels[id] = nil
        }
    }

    /// Connections that were chosen to close for newer ones, since the start. A request may have begun on one of them
    /// just before, and saved it.
    var evicted: Int { evictedCount.load(ordering: .relaxed) }

    /// The number of connections that are open now.
    var count: Int { state.withLock { $0.channels.count } }

    /// The connections that are open now. A copy: connections may close, and others open, while the caller visits them.
    var all: [any Channel] { state.withLock { Array($0.channels.values) } }

    /// True once after a flood of connections has ended.
    func hasFallen() -> Bool { state.withLock { $0.ledger.hasFallen() } }
}

/// Records since when a connection has been idle. Relaxed ordering is enough: a stale value at worst picks another
/// idle connection, and the channel checks again.
final class ConnectionActivity: Sendable {
    // A class because the event loop of the connection writes it, and the event loop of a newer connection reads it.
    /// In ``since`` while a request is in progress. No time of the monotonic clock reaches it.
    private static let busy = UInt64.max
    /// Nanoseconds of the monotonic clock, or ``busy``.
    private let since: Atomic<UInt64>

    /// A new connection counts as idle.
    init(idleSince now: NIODeadline) { since = Atomic(now.uptimeNanoseconds) }

    /// Nil while a request is in progress.
    var idleSince: NIODeadline? {
        let since = since.load(ordering: .relaxed)
        return since == Self.busy ? nil : .uptimeNanoseconds(since)
    }

    /// Called when a request begins.
    func markBusy() { since.store(Self.busy, ordering: .relaxed) }

    /// Called when the last response has been sent.
    func markIdle(at now: NIODeadline) { since.store(now.uptimeNanoseconds, ordering: .relaxed) }
}
