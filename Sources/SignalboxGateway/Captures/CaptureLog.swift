package import SignalboxConfig
import SignalboxEgress
import Synchronization

/// The newest pushes that reached the provider endpoints, in memory. A restart begins with an empty log.
///
/// A class because all endpoints, requests and waits share it. Callable from any thread.
package final class CaptureLog: Sendable {
    struct State {
        var ring: CaptureRing
        /// Signals of the waits in progress.
        var waits: [Int: WakeUp] = [:]
        var lastWait = 0
        /// Memory of captures that waits have found.
        var heldBytes = 0

        /// Appends a capture and wakes the waits, which search after the lock is free.
        mutating func append(_ capture: Capture) {
            guard ring.limits.count > 0 else { return }
            ring.append(capture)
            for wait in waits.values { wait.wake() }
        }
    }

    let state: Mutex<State>
    /// Distinguishes the cursors of this process from those of an earlier one.
    private let mark = hexadecimal(randomBytes(4))

    /// An empty log. `limits`: how many captures it keeps.
    package init(limits: GatewayConfig.Captures = .init()) { state = Mutex(State(ring: CaptureRing(limits: limits))) }

    /// False if the config has switched captures off. Then ``append(_:)`` has no effect.
    package var isOn: Bool { state.withLock { $0.ring.limits.count > 0 } }

    /// Applies other limits, and drops the captures beyond them.
    package func set(_ limits: GatewayConfig.Captures) { state.withLock { $0.ring.limits = limits } }

    /// Appends a capture and wakes the waits. Returns at once: it copies and parses no event.
    package func append(_ capture: Capture) { state.withLock { $0.append(capture) } }

    /// Appends captures in their order; see ``append(_:)``.
    package func append(contentsOf captures: [Capture]) {
        state.withLock { state in
            for capture in captures { state.append(capture) }
        }
    }

    /// Removes the captures of a run, or all of them without one. Returns their number.
    package func remove(run: String?) -> Int { state.withLock { $0.ring.remove(run: run) } }

    /// The number of the newest capture so far; 0 before the first.
    package var last: Int64 { state.withLock { $0.ring.last } }

    // MARK: Cursors

    /// The position of a capture as clients see it.
    package func cursor(_ number: Int64) -> String { "\(mark)-\(number)" }

    /// Nil for text that is not a cursor. `0`, and every cursor of an earlier process, is the beginning of this log.
    package func number(ofCursor text: String) -> Int64? {
        if text == "0" { return 0 }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == mark.utf8.count, let number = Int64(parts[1]), number >= 0
        else { return nil }
        return parts[0] == mark ? number : 0
    }

    // MARK: Reading

    /// The most captures that one acquisition of the lock reads.
    private static let step = 256

    /// Captures that were read in order.
    package struct Reading: Sendable {
        /// The captures of the page.
        package var captures: [Capture] = []
        /// The number of the last capture that was examined.
        package var examined: Int64
        /// True if captures after the start were dropped before they were examined.
        package var isTruncated = false
    }

    /// The selected captures after a number, in order, at most `most` (1 or more). With nil as `number`, searches the
    /// whole log. Suspends between steps, so a long search does not occupy a thread.
    package func captures(_ selection: CaptureSelection, after number: Int64?, upTo most: Int) async -> Reading {
        var reading = Reading(examined: number ?? 0)
        // Without a start, captures that were dropped before this call are not missed.
        let start = number ?? state.withLock { $0.ring.dropped(from: selection) }
        while true {
            let (batch, dropped, last) = state.withLock { state in
                let ring = state.ring
                let dropped = ring.dropped(from: selection)
                return (ring.batch(after: reading.examined, upTo: Self.step), dropped, ring.last)
            }
            if dropped > max(start, reading.examined) { reading.isTruncated = true }
            guard !batch.isEmpty else {
                reading.examined = max(reading.examined, last)
                return reading
            }
            for capture in batch {
                reading.examined = capture.number
                guard selection.matches(capture) else { continue }
                reading.captures.append(capture)
                if reading.captures.count == most { return reading }
            }
            await Task.yield()
        }
    }

    /// The selected captures before a number, the newest first, at most `most`.
    package func newest(
        _ selection: CaptureSelection, before number: Int64 = .max, upTo most: Int
    ) async -> [Capture] {
        var (found, examined) = ([Capture](), number)
        while true {
            let batch = state.withLock { $0.ring.newest(before: examined, upTo: Self.step) }
            guard let last = batch.last else { return found }
            for capture in batch where selection.matches(capture) {
                found.append(capture)
                if found.count == most { return found }
            }
            examined = last.number
            await Task.yield()
        }
    }

    /// The newest captures after a number that are not selected, each with the reason; the newest first.
    func nearMisses(_ selection: CaptureSelection, after number: Int64, upTo most: Int) async -> [CaptureNearMiss] {
        var (found, examined) = ([CaptureNearMiss](), Int64.max)
        while true {
            let batch = state.withLock { $0.ring.newest(before: examined, upTo: Self.step) }
            guard let last = batch.last else { return found }
            for capture in batch {
                guard capture.number > number else { return found }
                guard let mismatch = selection.mismatch(of: capture) else { continue }
                found.append(CaptureNearMiss(capture: capture, mismatch: mismatch))
                if found.count == most { return found }
            }
            examined = last.number
            await Task.yield()
        }
    }
}

/// A push that arrived during a wait and does not count.
package struct CaptureNearMiss: Sendable {
    package let capture: Capture
    package let mismatch: CaptureMismatch
}
