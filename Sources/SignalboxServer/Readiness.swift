import SignalboxStore
import Synchronization

/// Whether the gateway can accept events. A probe costs a write to disk, so there is at most one a second and one at a
/// time, however often requests ask.
///
/// A probe that does not finish counts as not ready for as long as it runs, because an old answer proves nothing.
final class Readiness: Sendable {
    enum Verdict: Sendable, Equatable {
        case ready
        case notReady(StoreError)
    }

    // A class because all requests share the answer.
    private struct State {
        var answer: (time: ContinuousClock.Instant, verdict: Verdict)?
        /// Start of the probe in progress.
        var begun: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Verdict, Never>] = []
    }

    /// How long requests wait for a probe.
    static let patience = StoreLimits.longestCommit
    /// How long an answer is valid.
    private static let freshness: Duration = .seconds(1)

    private let state = Mutex(State())
    private let probe: @Sendable () async -> Verdict
    private let delayed: DelayedCall
    private let now: @Sendable () -> ContinuousClock.Instant

    init(
        delayed: DelayedCall = .onQueue, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ probe: @escaping @Sendable () async -> Verdict
    ) {
        self.delayed = delayed
        self.now = now
        self.probe = probe
    }

    private enum Step {
        case known(Verdict)
        case waits
        case begins(at: ContinuousClock.Instant)
    }

    func verdict() async -> Verdict {
        await withCheckedContinuation { request in
            switch step(for: request) {
            case .known(let verdict): request.resume(returning: verdict)
            case .waits: break
            case .begins(let begun):
                // Not structured: a disk that hangs blocks the probe, and must not block requests.
                Task { end(with: await probe()) }
                delayed(after: Self.patience) { [weak self] in self?.giveUp(begun: begun) }
            }
        }
    }

    private func step(for request: CheckedContinuation<Verdict, Never>) -> Step {
        let now = now()
        return state.withLock { state in
            if let answer = state.answer, now - answer.time < Self.freshness { return .known(answer.verdict) }
            if let begun = state.begun, now - begun >= Self.patience {
                return .known(.notReady(.stalled(for: now - begun)))
            }
            state.waiting.append(request)
            guard state.begun == nil else { return .waits }
            state.begun = now
            return .begins(at: now)
        }
    }

    private func end(with verdict: Verdict) {
        let now = now()
        let waiting = state.withLock { state in
            defer { state = State(answer: (now, verdict)) }
            return state.waiting
        }
        for request in waiting { request.resume(returning: verdict) }
    }

    /// Answers the requests that wait for a probe that has not finished.
    private func giveUp(begun: ContinuousClock.Instant) {
        let waiting = state.withLock { state in
            guard state.begun == begun else { return [CheckedContinuation<Verdict, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.resume(returning: .notReady(.stalled(for: Self.patience))) }
    }
}
