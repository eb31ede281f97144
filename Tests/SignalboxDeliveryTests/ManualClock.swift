import Synchronization

/// A clock that a test advances. Sleepers wake at their time, and the test can wait for sleepers.
final class ManualClock: Clock {
    // A class because sleepers and the test share it.
    struct Instant: InstantProtocol {
        let offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (until: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var next = 0
        var watchers: [(until: Duration, done: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    var elapsed: Duration { now.offset }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wake in
                let (ends, isCancelled, seen) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return (true, true, takeWatchers(&state, deadline)) }
                    if deadline <= state.now { return (true, false, takeWatchers(&state, deadline)) }
                    state.sleepers[id] = (deadline, wake)
                    return (false, false, takeWatchers(&state, deadline))
                }
                for watcher in seen { watcher.resume() }
                guard ends else { return }
                if isCancelled { wake.resume(throwing: CancellationError()) } else { wake.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.wake.resume(throwing: CancellationError())
        }
    }

    private func takeWatchers(_ state: inout State, _ deadline: Instant) -> [CheckedContinuation<Void, Never>] {
        let seen = state.watchers.filter { $0.until == deadline.offset }
        state.watchers.removeAll { $0.until == deadline.offset }
        return seen.map(\.done)
    }

    /// The number of sleepers.
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let woken = state.sleepers.filter { $0.value.until <= state.now }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken.values.map(\.wake)
        }
        for wake in woken { wake.resume() }
    }

    /// Returns once a task sleeps until this time.
    func waitForSleeper(until time: Duration) async {
        await withCheckedContinuation { done in
            let isThere = state.withLock { state in
                if state.sleepers.values.contains(where: { $0.until.offset == time }) { return true }
                state.watchers.append((time, done))
                return false
            }
            if isThere { done.resume() }
        }
    }
}
