import SignalboxModel
import Synchronization

/// The hand-off of all destinations behind one lock, with the signals that wake who claims from them.
///
/// A class because it is shared state between the writer, the claimers and the timer.
final class Lanes: Sendable {
    private let handOff = Mutex(HandOff())
    private let wakers = Mutex<[DestinationName: @Sendable () -> Void]>([:])

    func withHandOff<R: Sendable>(_ body: (inout HandOff) -> R) -> R {
        handOff.withLock { body(&$0) }
    }

    func open(_ destination: DestinationName, wake: @escaping @Sendable () -> Void) {
        handOff.withLock { $0.open(destination) }
        wakers.withLock { $0[destination] = wake }
        wake()
    }

    func wake(_ destinations: some Collection<DestinationName>) {
        let wakers = wakers.withLock { wakers in destinations.compactMap { wakers[$0] } }
        for wake in wakers { wake() }
    }
}
