import Synchronization

/// Remembers the damage that this process found in the file. Readiness, senders and logs depend on it.
///
/// Damage lasts until the process ends, because a repaired or replaced file needs a restart anyway. A class because
/// readers, the writer and the janitors share it.
package final class StoreHealth: Sendable {
    /// Background work on the file.
    package enum Upkeep: String, Sendable, CaseIterable {
        /// Removing old events.
        case retention
        /// Removing old files.
        case media = "media retention"
        /// Removing files that the queue does not know.
        case sweep = "media sweep"
    }

    /// Whether an outcome differs from the previous one.
    package enum Change: Sendable {
        case none, fails, recovers
    }

    private struct State {
        var damage: StoreError?
        var isReported = false
        var failing: [Upkeep: String] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Remembers an error that reports damage; ignores all others.
    package func note(_ error: StoreError) {
        guard case .damaged = error else { return }
        state.withLock { if $0.damage == nil { $0.damage = error } }
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
            let before = state.failing.updateValue(failure ?? "", forKey: upkeep) ?? ""
            state.failing[upkeep] = failure
            if before.isEmpty == (failure == nil) { return .none }
            return failure == nil ? .recovers : .fails
        }
    }

    /// Upkeep whose last pass failed.
    package var failing: [Upkeep] { state.withLock { $0.failing.keys.sorted { $0.rawValue < $1.rawValue } } }
}
