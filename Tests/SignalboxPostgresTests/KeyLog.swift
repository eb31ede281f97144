import Synchronization

/// The deliveries of each order key in the order of their attempts. Records an attempt that begins while another one of
/// its key is in progress.
final class KeyLog: Sendable {
    private struct State {
        var served: [String: [Int64]] = [:]
        var busy: Set<String> = []
        var overlaps = 0
        var count = 0
    }

    private let state = Mutex(State())

    func begin(_ key: String, _ delivery: Int64) {
        state.withLock { state in
            if !state.busy.insert(key).inserted { state.overlaps += 1 }
            state.served[key, default: []].append(delivery)
            state.count += 1
        }
    }

    func end(_ key: String) { state.withLock { _ = $0.busy.remove(key) } }

    /// Attempts so far.
    var count: Int { state.withLock(\.count) }

    /// Whether the deliveries of each key were attempted in the order of their numbers, without an overlap.
    var isInOrder: Bool {
        state.withLock { state in state.overlaps == 0 && state.served.values.allSatisfy { $0 == $0.sorted() } }
    }
}

/// A clock of instants that tests move.
final class ManualInstant: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock(\.self) }

    func advance(by time: Duration) { instant.withLock { $0 += time } }
}
