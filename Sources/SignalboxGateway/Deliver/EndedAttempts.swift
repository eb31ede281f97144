import SignalboxStore
import Synchronization

/// An attempt whose place is to be freed.
struct EndedAttempt: Sendable {
    /// The deliveries of the request; none without a request.
    var leases: [Lease] = []
    /// Nil without a request.
    var result: SendResult?
    /// The outcomes of deliveries that were not sent.
    var unsent: [Settlement] = []
}

/// The attempts of a lane that have ended, until the lane takes them. A class because senders add to it on their own
/// threads, and the lane takes from it.
final class EndedAttempts: Sendable {
    private struct State {
        var attempts: [EndedAttempt] = []
        /// Waits for an attempt.
        var waiter: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let wakeUp: WakeUp

    /// `wakeUp`: of the lane.
    init(_ wakeUp: WakeUp) { self.wakeUp = wakeUp }

    /// Wakes the lane once for several attempts that it has not taken.
    func add(_ attempt: EndedAttempt) {
        let (isFirst, waiter) = state.withLock { state in
            state.attempts.append(attempt)
            return (state.attempts.count == 1, state.waiter.take())
        }
        waiter?.resume()
        if isFirst { wakeUp.wake() }
    }

    /// Removes and returns all attempts, in the order of their ends.
    func takeAll() -> [EndedAttempt] {
        state.withLock { state in
            defer { state.attempts = [] }
            return state.attempts
        }
    }

    /// Returns once there is an attempt, also in a cancelled task. One task may wait at a time.
    func wait() async {
        // Unchecked: the waiter is taken before it is resumed.
        await withUnsafeContinuation { waiter in
            let isReady = state.withLock { state in
                if state.attempts.isEmpty { state.waiter = waiter }
                return !state.attempts.isEmpty
            }
            if isReady { waiter.resume() }
        }
    }
}
