package import SignalboxNotification
import Synchronization

/// The hand-off of all destinations behind one lock, with the signals that wake who claims from them.
///
/// A class because it is shared state between the writer, the claimers and the timer.
package final class Lanes: Sendable {
    package init() {}

    private let handOff = Mutex(HandOff())
    private let states = Mutex<[DestinationName: DestinationState]>([:])
    private let withheld = Mutex<Set<DestinationName>>([])
    private let wakers = Mutex<[DestinationName: @Sendable () -> Void]>([:])

    package func withHandOff<R: Sendable>(_ body: (inout HandOff) -> R) -> R {
        handOff.withLock { body(&$0) }
    }

    /// Claims from memory, or through `read` when it is the file's turn. The reading ends however `read` ends, so that
    /// a failure does not stop the lane.
    package func claim(
        from destination: DestinationName, upTo limit: Int,
        orRead read: () async throws(StoreError) -> [Lease]
    ) async throws(StoreError) -> [Lease] {
        while true {
            switch handOff.withLock({ $0.claim(from: destination, upTo: limit) }) {
            case .leases(let leases): return leases
            case .read(let reading):
                defer { handOff.withLock { $0.end(reading) } }
                let found = try await read()
                // It was the file's turn, but the file had nothing: memory is next.
                if !found.isEmpty { return found }
            }
        }
    }

    package func open(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {
        handOff.withLock { $0.open(destination, isOrdered: isOrdered) }
        wakers.withLock { $0[destination] = wake }
        wake()
    }

    package func close(_ destination: DestinationName) {
        handOff.withLock { $0.close(destination) }
        wakers.withLock { $0[destination] = nil }
    }

    package func wake(_ destinations: some Collection<DestinationName>) {
        let wakers = wakers.withLock { wakers in destinations.compactMap { wakers[$0] } }
        for wake in wakers { wake() }
    }

    // MARK: Who takes nothing for now

    package func state(of destination: DestinationName) -> DestinationState? { states.withLock { $0[destination] } }

    /// Those that are paused or disabled, or have not given their permission.
    package var idleDestinations: Set<DestinationName> {
        states.withLock { Set($0.keys) }.union(withheld.withLock(\.self))
    }

    package func set(_ state: DestinationState?, of destination: DestinationName) {
        states.withLock { $0[destination] = state }
        wake([destination])
    }

    /// Takes the states that the file has; whose state changed is woken.
    package func set(_ all: [DestinationName: DestinationState]) {
        let changed = states.withLock { states in
            defer { states = all }
            return Set(states.keys).symmetricDifference(all.keys)
        }
        wake(changed)
    }

    // MARK: Who has not given its permission

    package func isWithheld(by destination: DestinationName) -> Bool { withheld.withLock { $0.contains(destination) } }

    package func withhold(by destination: DestinationName) { withheld.withLock { _ = $0.insert(destination) } }

    package func permit(by destination: DestinationName) {
        if withheld.withLock({ $0.remove(destination) }) != nil { wake([destination]) }
    }

    /// Takes those that the file has; who is no longer among them is woken.
    package func setWithheld(_ all: Set<DestinationName>) {
        let gone = withheld.withLock { withheld in
            defer { withheld = all }
            return withheld.subtracting(all)
        }
        wake(gone)
    }
}
