import Synchronization

/// A clock that a test advances, and calls that it makes when they are due. A class because a test and its subject
/// share it.
package final class ManualTimer: Sendable {
    /// Calls in the order in which they were scheduled.
    private struct State {
        var elapsed = Duration.zero
        var calls: [(due: Duration, call: @Sendable () -> Void)] = []
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// No time has passed and no call is scheduled.
    package init() {}

    /// Time since the timer was made.
    package var elapsed: Duration { state.withLock(\.elapsed) }
    /// For code that compares instants.
    package var now: ContinuousClock.Instant { start + elapsed }
    /// Calls that are not due yet.
    package var count: Int { state.withLock { $0.calls.count } }

    /// Makes the call once the time has advanced by the delay. Never calls before it returns, even for a delay of zero.
    package func schedule(after delay: Duration, _ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.calls.append(($0.elapsed + delay, call)) }
    }

    /// Advances the time, and makes the calls that are then due. Calls run on the caller's thread, the earliest
    /// first, outside of the lock.
    package func pass(_ time: Duration) {
        let due = state.withLock { state in
            state.elapsed += time
            let due = state.calls.filter { $0.due <= state.elapsed }
            state.calls.removeAll { $0.due <= state.elapsed }
            return due
        }
        for call in due.sorted(by: { $0.due < $1.due }) { call.call() }
    }
}
