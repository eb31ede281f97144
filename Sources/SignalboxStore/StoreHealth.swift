import Synchronization

/// Remembers what this process found wrong with the file. Readiness, senders and logs go by it.
///
/// Damage lasts until the process ends: a file that is repaired or replaced needs a restart anyway. A class because
/// readers, the writer and the janitors share it.
package final class StoreHealth: Sendable {
    /// Work on the file that no request waits for.
    package enum Upkeep: String, Sendable, CaseIterable {
        /// Removing old events.
        case retention
        /// Removing old files.
        case media = "media retention"
        /// Removing files that the queue does not know.
        case sweep = "media sweep"
    }

    /// Whether an outcome differs from the one before.
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

    /// Remembers an error that says that the file is damaged; ignores all others.
    func note(_ error: StoreError) {
        guard case .damaged = error else { return }
        state.withLock { if $0.damage == nil { $0.damage = error } }
    }

    /// The first damage that was found; nil while none was.
    package var damage: StoreError? { state.withLock { $0.damage } }

    /// The damage, once.
    package func takeUnreportedDamage() -> StoreError? {
        state.withLock { state in
            guard !state.isReported, let damage = state.damage else { return nil }
            state.isReported = true
            return damage
        }
    }

    /// Records how a pass went. `failure`: why it failed; nil when it did not.
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
