import Synchronization

/// A clock that a test advances. Sleepers wake at their time, and the test can wait for sleepers.
package final class ManualClock: Clock {
    // A class because sleepers and the test share it.
    /// The time since the clock was made.
    package struct Instant: InstantProtocol {
        package let offset: Duration
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (until: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        /// The number of the last sleep.
        var last = 0
        var watchers: [(until: Duration, done: CheckedContinuation<Void, Never>)] = []

        /// The remaining time of each sleeper.
        var waits: [Duration] { sleepers.values.map { now.duration(to: $0.until) } }

        /// Moves the time to the end of the next sleep. Returns how far it moved, and the sleeper.
        mutating func step() -> (Duration, CheckedContinuation<Void, any Error>)? {
            guard let (id, first) = sleepers.min(by: { $0.value.until < $1.value.until }) else { return nil }
            sleepers[id] = nil
            let time = now.duration(to: first.until)
            now = first.until
            return (time, first.wake)
        }
    }

    private let state = Mutex(State())
    private let follow: @Sendable (Duration) -> Void

    /// `follow` moves other clocks by the same duration whenever this one moves.
    package init(follow: @escaping @Sendable (Duration) -> Void = { _ in }) { self.follow = follow }

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }
    /// How far the clock has moved.
    package var elapsed: Duration { now.offset }
    /// The number of tasks that sleep.
    package var sleepers: Int { state.withLock { $0.sleepers.count } }
    /// The number of sleeps so far.
    package var sleeps: Int { state.withLock { $0.last } }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
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

    // MARK: Moving

    /// Wakes every task whose time has come.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let woken = state.sleepers.filter { $0.value.until <= state.now }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken.values.map(\.wake)
        }
        follow(duration)
        for wake in woken { wake.resume() }
    }

    /// Wakes sleepers one after the other until the condition holds.
    package func step(until isReached: @Sendable () -> Bool) async {
        while !isReached() {
            if let (time, sleeper) = state.withLock({ $0.step() }) {
                follow(time)
                sleeper.resume()
            }
            for _ in 0..<20 { await Task.yield() }
        }
    }

    // MARK: Waiting for sleepers

    /// Returns once a task sleeps until this time, which counts from the creation of the clock.
    package func waitForSleeper(until time: Duration) async {
        await withCheckedContinuation { done in
            let isThere = state.withLock { state in
                if state.sleepers.values.contains(where: { $0.until.offset == time }) { return true }
                state.watchers.append((time, done))
                return false
            }
            if isThere { done.resume() }
        }
    }

    /// Returns once a task sleeps, and none sleeps longer than this. Moves no clock.
    package func waitForSleepers(atMost time: Duration) async {
        while !state.withLock({ !$0.waits.isEmpty && $0.waits.allSatisfy { $0 <= time } }) { await Task.yield() }
    }

    /// Wakes sleepers until at least one sleeps, and none has less than this time left.
    package func waitForSleeper(atLeast time: Duration) async {
        await step(until: { self.state.withLock { !$0.waits.isEmpty && $0.waits.allSatisfy { $0 >= time } } })
    }
}
