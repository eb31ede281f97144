import SignalboxStore

/// Whether the gateway can accept events. A probe writes to disk, so there is at most one a second and one at a time,
/// regardless of the number of requests.
///
/// While a probe exceeds ``patience``, the gateway is not ready: an earlier result proves nothing.
actor Readiness {
    /// The result of one probe.
    enum Verdict: Sendable, Equatable {
        /// The last probe wrote to the disk.
        case ready
        /// Why events cannot be accepted.
        case notReady(StoreError)
    }

    /// How long requests wait for a probe.
    static let patience = StoreLimits.longestCommit
    /// How long a result is valid.
    private static let freshness: Duration = .seconds(1)

    /// Ends the wait of a request, not the probe.
    private let delayed: DelayedCall
    /// Monotonic, so a clock that is set does not make a result seem fresh.
    private let now: @Sendable () -> ContinuousClock.Instant
    /// May hang as long as the disk does.
    private let probe: @Sendable () async -> Verdict
    /// The last probe that ended.
    private var result: (time: ContinuousClock.Instant, verdict: Verdict)?
    /// Nil while no probe runs.
    private var running: (task: Task<Verdict, Never>, begun: ContinuousClock.Instant)?

    /// `now`: monotonic. `probe` is never called twice at the same time. `delayed` schedules the deadline of a
    /// waiting request; tests replace both.
    init(
        delayed: DelayedCall = .onQueue, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ probe: @escaping @Sendable () async -> Verdict
    ) { (self.delayed, self.now, self.probe) = (delayed, now, probe) }

    /// Returns within ``patience``. Concurrent requests share a running probe. A result that is younger than a second
    /// is returned at once. The probe is not cancelled when requests stop waiting for it.
    func verdict() async -> Verdict {
        let now = now()
        if let result, now - result.time < Self.freshness { return result.verdict }
        let (task, begun) = running ?? begin(at: now)
        let elapsed = now - begun
        guard elapsed < Self.patience else { return .notReady(.stalled(for: elapsed)) }
        let verdict = await delayed.result(within: Self.patience - elapsed) { await task.value }
        return verdict ?? .notReady(.stalled(for: Self.patience))
    }

    /// The probe continues when no request waits any longer. Only one runs at a time.
    private func begin(at now: ContinuousClock.Instant) -> (task: Task<Verdict, Never>, begun: ContinuousClock.Instant)
    {
        // Not structured: a disk that hangs blocks the probe, and must not block requests.
        let task = Task {
            let verdict = await probe()
            (result, running) = ((self.now(), verdict), nil)
            return verdict
        }
        running = (task, now)
        return (task, now)
    }
}
