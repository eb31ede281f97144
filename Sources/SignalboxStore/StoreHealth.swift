import Synchronization

/// Known faults of the store, and its measurements: damage, failed commits, upkeep that fails, durations. Readiness,
/// senders, logs and metrics depend on it.
///
/// Damage lasts until the process ends, because a repaired or replaced store needs a restart anyway. A class because
/// readers, the writer and the janitors share it.
package final class StoreHealth: Sendable {
    /// Background work on the store.
    package enum Upkeep: String, Sendable, CaseIterable {
        /// Removing old events.
        case retention
        /// Removing old files.
        case media = "media retention"
        /// Removing files that the store does not know.
        case sweep = "media sweep"
    }

    /// Whether an outcome differs from the previous one.
    package enum Change: Sendable {
        case none, fails, recovers
    }

    private struct State {
        var damage: StoreError?
        var isReported = false
        var failedCommit: (error: StoreError, time: ContinuousClock.Instant, lasts: Bool)?
        var failing: [Upkeep: String] = [:]
    }

    /// How long a failed commit counts: a disk that is nearly full accepts small writes and rejects large ones.
    private static let memory: Duration = .seconds(10)

    /// How long commits took, until they were synced or failed.
    package let commits = Histogram(.request)
    /// Deliveries that ended.
    package let ends = DeliveryEnds()
    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Starts without faults. `now`: replaced by tests.
    package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Remembers an error that reports damage. Ignores all others.
    package func recordDamage(_ error: StoreError) {
        guard case .damaged = error else { return }
        state.withLock { if $0.damage == nil { $0.damage = error } }
    }

    /// Ignores a failure that may be of a single write, unless it reports damage. `ofEvents`: whether the commit
    /// accepted events.
    package func commitFailed(_ failure: CommitFailure, ofEvents: Bool) {
        recordDamage(failure.reason)
        guard !failure.mayBeOfOneWrite else { return }
        // Any commit shows that the store can be reached, but a full disk may have room for one without events.
        let lasts = if case .unreachable = failure.reason { false } else { ofEvents }
        state.withLock { [now] state in
            state.failedCommit = (failure.reason, now(), lasts || state.failedCommit?.lasts == true)
        }
    }

    /// Ends the fault of an earlier commit. If that one was of events, only a commit of events does.
    package func commitSucceeded(ofEvents: Bool) {
        state.withLock { state in
            if ofEvents || state.failedCommit?.lasts != true { state.failedCommit = nil }
        }
    }

    /// The reason why new events cannot be accepted, as far as is known; nil for none.
    package var fault: StoreError? {
        state.withLock { [now] state in
            if let damage = state.damage { return damage }
            guard let failed = state.failedCommit, now() - failed.time < Self.memory else { return nil }
            return failed.error
        }
    }

    /// The first damage found; nil for none.
    package var damage: StoreError? { state.withLock { $0.damage } }

    /// Returns the damage once.
    package func takeUnreportedDamage() -> StoreError? {
        state.withLock { state in
            guard !state.isReported, let damage = state.damage else { return nil }
            state.isReported = true
            return damage
        }
    }

    /// Records the outcome of a pass. `failure`: why it failed; nil for a success.
    package func record(_ upkeep: Upkeep, failure: String?) -> Change {
        state.withLock { state in
            let before = state.failing[upkeep]
            state.failing[upkeep] = failure
            if (before == nil) == (failure == nil) { return .none }
            return failure == nil ? .recovers : .fails
        }
    }

    /// Upkeep whose last pass failed.
    package var failing: [Upkeep] { state.withLock { $0.failing.keys.sorted { $0.rawValue < $1.rawValue } } }
}
