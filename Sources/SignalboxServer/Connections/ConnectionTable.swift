import NIOCore
import Synchronization

/// All open connections of one server.
final class ConnectionTable: Sendable {
    // A class because all connections share it.

    /// Asks a connection to close, unless a request has begun on it.
    struct CloseIfIdle: Sendable {}

    private struct State {
        var ledger: ConnectionLedger<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    init(capacity: Int) { state = Mutex(State(ledger: ConnectionLedger(capacity: capacity))) }

    /// Registers a connection, and closes an idle one when there are too many. Returns false when the new one must
    /// close.
    func open(_ channel: any Channel, by peer: PeerAddress, _ activity: ConnectionActivity) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isAccepted, evicted) = state.withLock { state -> (Bool, (any Channel)?) in
            switch state.ledger.open(id, by: peer, activity) {
            case .refused: return (false, nil)
            case .accepted:
                state.channels[id] = channel
                return (true, nil)
            case .acceptedInsteadOf(let other):
                state.channels[id] = channel
                return (true, state.channels[other])
            }
        }
        evicted?.triggerUserOutboundEvent(CloseIfIdle(), promise: nil)
        return isAccepted
    }

    func close(_ channel: any Channel, by peer: PeerAddress) {
        let id = ObjectIdentifier(channel)
        state.withLock { state in
            state.ledger.close(id, by: peer)
            state.channels[id] = nil
        }
    }

    /// True once after a flood of connections has ended.
    func hasFallen() -> Bool { state.withLock { $0.ledger.hasFallen() } }
}
