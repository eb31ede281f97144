import SignalboxStore
import Synchronization

/// An attempt whose place is to be freed.
struct EndedAttempt: Sendable {
    /// When it took its place, on the lane's clock.
    let begunAt: Duration
    /// The deliveries of the request; none without a request.
    var leases: [Lease] = []
    /// The outcomes of deliveries that were not sent.
    var unsent: [Settlement] = []
    /// Makes the result; nil without a request.
    var result: (@Sendable () -> SendResult?)?
}

/// The attempts of a lane that have ended, until the lane takes them. A class because senders add to it on their own
/// threads, and the lane takes from it.
final class EndedAttempts: Sendable {
    private struct State {
        var attempts: [EndedAttempt] = []
        /// Whether the next call of ``takeAll()`` returns at once.
        var isSignalled = false
        var isClosed = false
        /// Waits for an attempt.
        var waiter: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Callable from any thread.
    func add(_ attempt: EndedAttempt) { signal { $0.attempts.append(attempt) } }

    /// No attempt begins any longer; those in progress are still added.
    func close() { signal { $0.isClosed = true } }

    /// True after ``close()``.
    var isClosed: Bool { state.withLock(\.isClosed) }

    private func signal(_ change: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            state.isSignalled = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits for attempts that have ended, even in a cancelled task. Removes and returns them, in the order in which
    /// they ended. ``close()`` ends one wait without attempts. One task may wait at a time.
    func takeAll() async -> [EndedAttempt] {
        // Unchecked: the waiter is taken before it is resumed.
        await withUnsafeContinuation { waiter in
            let isReady = state.withLock { state in
                if !state.isSignalled { state.waiter = waiter }
                return state.isSignalled
            }
            if isReady { waiter.resume() }
        }
        return state.withLock { state in
            defer { (state.isSignalled, state.attempts) = (false, []) }
            return state.attempts
        }
    }
}
