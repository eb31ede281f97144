import Synchronization

/// How much room files take, and whether some has to be made before more come. Who downloads adds to it and holds back
/// while it is full; who removes files waits for that and says what is left.
///
/// A class with a lock because both share it.
package final class MediaRoom: Sendable {
    private let state = Mutex(State())
    /// Bytes of all files.
    let limit: @Sendable () -> Int64
    /// Called when it is full.
    let full = WakeUp()

    private struct State {
        /// Of all files, when they were last counted.
        var counted: Int64 = 0
        /// Of those that came since.
        var added: Int64 = 0
        /// Up to here more is let in, because what is there is in use.
        var spared: Int64 = 0
        /// Whether room is to be made.
        var isFull = false
        /// Whether somebody makes room: without, nobody holds back.
        var isServed = false
        var whenFree: (@Sendable () -> Void)?
    }

    /// Of the limit, what is made free at once, so that not every further file asks for room again.
    private static let share: Int64 = 20

    /// `limit`: bytes of all files, asked each time.
    package init(limit: @escaping @Sendable () -> Int64) { self.limit = limit }

    /// Whether nothing is to be added for now.
    var isFull: Bool { state.withLock { $0.isFull && $0.isServed } }

    /// Whether room was asked for.
    var isWanted: Bool { state.withLock { $0.isFull } }

    /// `wake` is called, from any thread, when it is not full any more.
    func whenFree(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.whenFree = wake } }

    /// Notes that a file was stored. Asks for room when there are too many bytes, and not again before some was made.
    func add(_ bytes: Int) {
        let limit = limit()
        let asks = state.withLock { state in
            state.added += Int64(bytes)
            guard !state.isFull, state.counted + state.added > max(limit, state.spared) else { return false }
            state.isFull = true
            return true
        }
        if asks { full.wake() }
    }

    // MARK: Who makes room

    /// From now on somebody makes room.
    func open() { state.withLock { $0.isServed = true } }

    /// Nobody does any more.
    func close() { free { $0.isServed = false } }

    /// How many bytes may stay when room is made.
    var target: Int64 {
        let limit = limit()
        return limit - limit / Self.share
    }

    /// To be called right before the files are counted: what comes while they are is added to that.
    func willCount() { state.withLock { $0.added = 0 } }

    /// Room was made, as far as that goes. `left`: of all files; nil when that could not be found out. When it is still too
    /// much, it is in use, and room is asked for again when it has grown some more.
    func made(left: Int64?) {
        let limit = limit()
        free { state in
            if let left { state.counted = left }
            let total = state.counted + state.added
            state.spared = total > limit ? total + limit / Self.share : 0
            state.isFull = false
        }
    }

    private func free(_ change: (inout State) -> Void) {
        let wake = state.withLock { state in
            change(&state)
            return state.whenFree
        }
        wake?()
    }
}
