import Synchronization

/// Counts events of a closed set since the start of the process.
final class Tally<Event: Hashable & Sendable>: Sendable {
    // A class because all connections share it.
    private let counts = Mutex<[Event: Int]>([:])

    func count(_ event: Event, times: Int = 1) { counts.withLock { $0[event, default: 0] += times } }

    subscript(_ event: Event) -> Int { counts.withLock { $0[event] ?? 0 } }
}
