import Synchronization

/// The quota of stored files. Downloads pause while their size exceeds it, until the media janitor has removed files.
///
/// The size is that of the last count plus the files stored since, so it may be too high, never too low: equal files
/// count twice until the next count. After a failed count, the former count stays.
///
/// A class with a lock because downloads and janitor share it.
final class MediaQuota: Sendable {
    private let state = Mutex(State())
    /// Maximum size of all files in bytes.
    let limit: @Sendable () -> Int64
    /// Signalled when the quota is exceeded: the janitor waits for it.
    let exceeded = WakeUp()

    /// All sizes are in bytes.
    private struct State {
        /// Size of all files at the last count.
        var counted: Int64 = 0
        /// Size of files stored since.
        var added: Int64 = 0
        /// The part of `added` that a count under way includes.
        var counting: Int64 = 0
        /// More than the limit is accepted up to this size, because all files are in use.
        var spared: Int64 = 0
        /// True while files must be removed.
        var isExceeded = false
        /// True while a janitor runs. Without one, downloads do not pause.
        var hasJanitor = false
        var whenFree: (@Sendable () -> Void)?
    }

    /// A removal frees the limit divided by this, so that not every further file exceeds the limit again.
    private static let share: Int64 = 20

    /// `limit`: bytes of all files, read at each use.
    init(limit: @escaping @Sendable () -> Int64) { self.limit = limit }

    /// True while downloads must not start. False without a janitor, because then no task would make room.
    var isFull: Bool { state.withLock { $0.isExceeded && $0.hasJanitor } }

    /// True while files must be removed. The janitor reads it after each wait.
    var isExceeded: Bool { state.withLock { $0.isExceeded } }

    /// Calls `wake`, on any thread, when downloads may start again. One function at a time: a later call replaces the
    /// earlier one.
    func whenFree(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.whenFree = wake } }

    /// Records a stored file. Signals once if the quota is exceeded, until files have been removed. Called after the
    /// file is committed to the queue.
    func add(_ bytes: Int) {
        let limit = limit()
        let isNew = state.withLock { state in
            state.added += Int64(bytes)
            guard !state.isExceeded, state.counted + state.added > max(limit, state.spared) else { return false }
            state.isExceeded = true
            return true
        }
        if isNew { exceeded.wake() }
    }

    // MARK: For the janitor

    /// Records that a janitor runs. Downloads pause from now on while the quota is exceeded.
    func open() { state.withLock { $0.hasJanitor = true } }

    /// Records that no janitor runs. Wakes the downloads, which no longer pause.
    func close() { free { $0.hasJanitor = false } }

    /// The size down to which the janitor removes files.
    var target: Int64 {
        let limit = limit()
        return limit - limit / Self.share
    }

    /// Call right before counting the files: files stored during the count are added to its result. Only the janitor
    /// calls it; counts do not overlap.
    func willCount() { state.withLock { $0.counting = $0.added } }

    /// Replaces the count. Does not signal, because the janitor itself has counted.
    func counted(_ bytes: Int64) {
        let limit = limit()
        state.withLock { state in
            state.counted = bytes
            state.added -= state.counting
            state.counting = 0
            let total = state.counted + state.added
            if total <= limit { state.spared = 0 }
            if total > max(limit, state.spared) { state.isExceeded = true }
        }
    }

    /// Records the end of a removal. `left`: size of all files; nil if unknown. If that still exceeds the limit, the
    /// files are in use, and the next removal starts after a further twentieth of the limit. Ends the pause in any
    /// case, so that a failure of the disk does not stop all downloads. Wakes the downloads.
    func removed(left: Int64?) {
        let limit = limit()
        free { state in
            if let left {
                state.counted = left
                state.added -= state.counting
            }
            state.counting = 0
            let total = state.counted + state.added
            state.spared = total > limit ? total + limit / Self.share : 0
            state.isExceeded = false
        }
    }

    /// Changes the state and then calls the function of ``whenFree(_:)``, outside of the lock.
    private func free(_ change: (inout State) -> Void) {
        let wake = state.withLock { state in
            change(&state)
            return state.whenFree
        }
        wake?()
    }
}
