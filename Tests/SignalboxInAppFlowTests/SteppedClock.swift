import Synchronization

/// A clock that jumps to the next wake-up when the test says so. A class because sleepers and the test share it.
final class SteppedClock: Clock {
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
    }

    private let state = Mutex(State())
    private let advanced: @Sendable (Duration) -> Void

    /// `advanced` moves the other clocks.
    init(_ advanced: @escaping @Sendable (Duration) -> Void) { self.advanced = advanced }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// The number of sleeps so far.
    var sleeps: Int { state.withLock { $0.next } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = (deadline, wake)
                    return nil
                }
                if let result { wake.resume(with: result) }
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

    /// Wakes the earliest sleeper again and again until the condition holds.
    func step(until isReached: @Sendable () -> Bool) async {
        while !isReached() {
            let step = state.withLock { state -> (Duration, CheckedContinuation<Void, any Error>)? in
                guard let (id, first) = state.sleepers.min(by: { $0.value.until < $1.value.until }) else { return nil }
                state.sleepers[id] = nil
                let time = state.now.duration(to: first.until)
                state.now = first.until
                return (time, first.wake)
            }
            if let step {
                advanced(step.0)
                step.1.resume()
            }
            for _ in 0..<20 { await Task.yield() }
        }
    }

    /// Returns once no task sleeps longer than this, and at least one sleeps. Moves no clock.
    func waitForSleepers(atMost time: Duration) async {
        while !state.withLock({ state in
            !state.sleepers.isEmpty && state.sleepers.values.allSatisfy { state.now.duration(to: $0.until) <= time }
        }) { await Task.yield() }
    }

    /// Returns once a task sleeps for at least so long; passes shorter sleeps.
    func waitForSleeper(atLeast time: Duration) async {
        await step(until: {
            self.state.withLock { state in
                !state.sleepers.isEmpty
                    && state.sleepers.values.allSatisfy { state.now.duration(to: $0.until) >= time }
            }
        })
    }
}
