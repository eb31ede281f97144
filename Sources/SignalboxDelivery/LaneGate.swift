import Synchronization

/// Counts what one lane has under way, so that neither requests nor outcomes not yet on disk grow without bound.
final class LaneGate: Sendable {
    // A class because every attempt of the lane reports to it.
    private struct State {
        var sending = 0
        var unsettled = 0
        var isDraining = false
        var isClosed = false
        var isFailing = false
        var isUnrecordable = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let unsettledLimit = 1024

    init(limit: Int) { self.limit = limit }

    /// Takes all free places and says how many they are.
    func takeFree() -> Int {
        state.withLock { state in
            guard !state.isClosed else { return 0 }
            let free = max(0, min(limit - state.sending, unsettledLimit - state.unsettled))
            state.sending += free
            state.unsettled += free
            return free
        }
    }

    /// Gives places back that nothing was found for.
    func giveBack(_ count: Int) {
        state.withLock { state in
            state.sending -= count
            state.unsettled -= count
        }
    }

    /// A reply is here; its outcome is not yet on disk.
    func sent() { state.withLock { $0.sending -= 1 } }

    func settled() { state.withLock { $0.unsettled -= 1 } }

    /// Notes a failed attempt; true for the first one after a success.
    func noteFailure() -> Bool {
        state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
    }

    /// Notes a delivery; true for the first one after a failure.
    func noteSuccess() -> Bool {
        state.withLock { state in
            defer { state.isFailing = false }
            return state.isFailing
        }
    }

    /// Notes an outcome that could not be recorded; true for the first one in a row.
    func noteUnrecorded() -> Bool {
        state.withLock { state in
            defer { state.isUnrecordable = true }
            return !state.isUnrecordable
        }
    }

    func noteRecorded() { state.withLock { $0.isUnrecordable = false } }

    /// From now on the lane ends once nothing is due.
    func drain() { state.withLock { $0.isDraining = true } }

    /// From now on nothing more is begun.
    func close() { state.withLock { $0.isClosed = true } }

    var isDraining: Bool { state.withLock { $0.isDraining } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
}
