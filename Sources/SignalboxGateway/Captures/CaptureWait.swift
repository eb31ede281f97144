import Synchronization

/// A wait for captures.
package struct CaptureWait: Sendable {
    /// The conditions of the captures that count.
    package var selection: CaptureSelection
    /// The number of captures to wait for.
    package var count: Int
    /// Only captures after this number count; nil for all that the log has.
    package var after: Int64?
    /// How long the wait lasts at most.
    package var timeout: Duration

    package init(_ selection: CaptureSelection, count: Int, after: Int64?, timeout: Duration) {
        (self.selection, self.count, self.after, self.timeout) = (selection, count, after, timeout)
    }

    /// The end of a wait.
    package struct Result: Sendable {
        /// The first captures that count, in order; fewer than requested after a timeout.
        package var captures: [Capture] = []
        /// The number of the last capture that was examined.
        package var examined: Int64
        /// The newest captures that do not count; empty unless the time was over.
        package var nearMisses: [CaptureNearMiss] = []
        /// True if the log dropped captures after the start of the wait before they were examined.
        package var isTruncated = false
    }

    /// Why a wait ends without a result.
    package enum Failure: Error, Sendable, Equatable {
        /// ``CaptureLog/mostWaits`` are in progress.
        case tooManyWaits
        /// The captures that all waits have found take more memory than ``CaptureLog/mostHeld``.
        case tooMuchMemory
        /// The task was cancelled.
        case cancelled
    }
}

extension CaptureLog {
    /// The most waits in progress.
    package static let mostWaits = 256
    /// The most memory of captures that waits have found.
    static let mostHeld = 64 * 1024 * 1024
    /// The most near misses of a wait.
    package static let mostNearMisses = 20

    /// Waits until the selection has enough captures, or the time is over. Counts captures that the log has, and later
    /// ones as soon as they are appended, in their order. Cancelling the task ends it. Holds no thread while it waits.
    package func wait(
        _ wait: CaptureWait, by clock: any Clock<Duration> = ContinuousClock()
    ) async throws(CaptureWait.Failure) -> CaptureWait.Result {
        let (id, signal) = try beginWait()
        var hold = Hold(state: self)
        defer { endWait(id, hold) }
        var result = CaptureWait.Result(examined: wait.after ?? 0)
        let stopwatch = Stopwatch(clock)
        var start = wait.after
        while true {
            // Checked before the log is read, so that the last read happens after the deadline.
            let left = wait.timeout - stopwatch.elapsed()
            let more = await captures(wait.selection, after: start, upTo: wait.count - result.captures.count)
            try hold.add(more.captures)
            result.captures += more.captures
            result.examined = more.examined
            result.isTruncated = result.isTruncated || more.isTruncated
            start = more.examined
            if result.captures.count >= wait.count { return result }
            guard !Task.isCancelled else { throw .cancelled }
            guard left > .zero else { break }
            guard await signal.wait(atMost: left, by: clock) else { throw .cancelled }
        }
        result.nearMisses = await nearMisses(wait.selection, after: wait.after ?? 0, upTo: Self.mostNearMisses)
        return result
    }

    /// The number of waits in progress.
    package var waits: Int { state.withLock { $0.waits.count } }

    /// The signal exists before the log is read, so no append is missed.
    private func beginWait() throws(CaptureWait.Failure) -> (id: Int, signal: WakeUp) {
        let begun = state.withLock { state -> (Int, WakeUp)? in
            guard state.waits.count < Self.mostWaits else { return nil }
            let signal = WakeUp()
            state.lastWait += 1
            state.waits[state.lastWait] = signal
            return (state.lastWait, signal)
        }
        guard let begun else { throw .tooManyWaits }
        return begun
    }

    private func endWait(_ id: Int, _ hold: Hold) {
        state.withLock { state in
            state.waits[id] = nil
            state.heldBytes -= hold.bytes
        }
    }

    /// The memory of the captures that one wait has found.
    private struct Hold {
        let state: CaptureLog
        private(set) var bytes = 0

        mutating func add(_ captures: [Capture]) throws(CaptureWait.Failure) {
            let more = captures.reduce(0) { $0 + $1.bytes }
            let isGranted = state.state.withLock { state in
                guard state.heldBytes + more <= CaptureLog.mostHeld else { return false }
                state.heldBytes += more
                return true
            }
            guard isGranted else { throw .tooMuchMemory }
            bytes += more
        }
    }
}

/// The time since a start, by any clock.
struct Stopwatch {
    let elapsed: () -> Duration

    init(_ clock: any Clock<Duration>) { elapsed = Self.measure(clock) }

    private static func measure<C: Clock>(_ clock: C) -> () -> Duration where C.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
