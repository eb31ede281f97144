import SignalboxModel
import Synchronization

/// The hand-off of all destinations behind one lock, with the signals that wake who claims from them.
///
/// A class because it is shared state between the writer, the claimers and the timer.
final class Lanes: Sendable {
    private let handOff = Mutex(HandOff())
    private let states = Mutex<[DestinationName: DestinationState]>([:])
    private let wakers = Mutex<[DestinationName: @Sendable () -> Void]>([:])

    func withHandOff<R: Sendable>(_ body: (inout HandOff) -> R) -> R {
        handOff.withLock { body(&$0) }
    }

    func open(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {
        handOff.withLock { $0.open(destination, isOrdered: isOrdered) }
        wakers.withLock { $0[destination] = wake }
        wake()
    }

    func wake(_ destinations: some Collection<DestinationName>) {
        let wakers = wakers.withLock { wakers in destinations.compactMap { wakers[$0] } }
        for wake in wakers { wake() }
    }

    // MARK: Who takes nothing for now

    func state(of destination: DestinationName) -> DestinationState? { states.withLock { $0[destination] } }

    /// Those that are paused or disabled.
    var idleDestinations: [DestinationName] { states.withLock { Array($0.keys) } }

    func set(_ state: DestinationState?, of destination: DestinationName) {
        states.withLock { $0[destination] = state }
        wake([destination])
    }

    /// Takes the states that the file has; whose state changed is woken.
    func set(_ all: [DestinationName: DestinationState]) {
        let changed = states.withLock { states in
            defer { states = all }
            return Set(states.keys).symmetricDifference(all.keys)
        }
        wake(changed)
    }
}
