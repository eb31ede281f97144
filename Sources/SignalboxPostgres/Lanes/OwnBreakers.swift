import SignalboxNotification
import Synchronization

/// The open breakers that this node has recorded, so that it notices when another node removes a record. A class
/// because lanes and ticks share it.
final class OwnBreakers: Sendable {
    private struct State {
        /// Records whose commit succeeded, of the present incarnation.
        var recorded: Set<DestinationName> = []
        /// Those that another node removed, until their lanes know it.
        var removed: Set<DestinationName> = []
        /// Counts changes: a poll that began before one of them may not know it.
        var changes = 0
    }

    private let state = Mutex(State())

    /// Before and after the commit of a record. `isOpen`: whether it is of an open breaker.
    func change(_ destination: DestinationName, isOpen: Bool) {
        state.withLock { state in
            state.changes += 1
            state.removed.remove(destination)
            if isOpen { state.recorded.insert(destination) } else { state.recorded.remove(destination) }
        }
    }

    /// To be read before a poll.
    var changes: Int { state.withLock(\.changes) }

    /// Compares with the records that a poll found. Returns the destinations whose record is gone. Returns none if a
    /// record changed since: the next poll compares again.
    func compare(_ found: Set<DestinationName>, since changes: Int) -> Set<DestinationName> {
        state.withLock { state in
            guard state.changes == changes else { return [] }
            let gone = state.recorded.subtracting(found)
            state.recorded.subtract(gone)
            state.removed.formUnion(gone)
            return gone
        }
    }

    /// Whether another node removed the record. True once.
    func takeRemoved(_ destination: DestinationName) -> Bool {
        state.withLock { $0.removed.remove(destination) != nil }
    }

    /// The records of an incarnation that is gone were removed with it, by no answer.
    func forget() { state.withLock { ($0.recorded, $0.changes) = ([], $0.changes + 1) } }
}
