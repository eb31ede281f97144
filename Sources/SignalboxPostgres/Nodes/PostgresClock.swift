import Foundation
import Synchronization

/// The time of the server, known without asking: it is sampled at each heartbeat, and advances by elapsed time between
/// samples. It never goes back. All nodes share it, even those whose own clocks are wrong. A class because all parts of
/// a store share it.
final class PostgresClock: Sendable {
    private struct State {
        /// The time at `anchor`, in seconds since 1970.
        var base: Double
        var anchor: ContinuousClock.Instant
        /// By how many seconds the clock was ahead of the server at `anchor`. It runs at half speed until they are
        /// gone.
        var lead: Double = 0

        func time(at instant: ContinuousClock.Instant) -> Double {
            let elapsed = max(0, (instant - anchor) / .seconds(1))
            return base + elapsed - min(lead, elapsed / 2)
        }
    }

    private let state = Mutex(State(base: Date().timeIntervalSince1970, anchor: .now))
    /// False until the first sample, which alone may set the clock back.
    private let isSampled = Mutex(false)
    /// Replaces the server's clock; for tests.
    private let fixed: (@Sendable () -> Date)?

    /// Shows the clock of the machine until the first sample. `fixed`: replaces the server's clock; for tests.
    init(_ fixed: (@Sendable () -> Date)? = nil) { self.fixed = fixed }

    /// Callable from any thread, without a round trip.
    var now: Date {
        if let fixed { return fixed() }
        return Date(timeIntervalSince1970: state.withLock { $0.time(at: .now) })
    }

    /// Follows the server. `milliseconds`: its time since 1970, read between the two instants. The error is half of the
    /// time between the two instants at most. After the first sample, a server whose time is earlier slows the clock
    /// down, and one whose time is later sets it forward at once.
    func sample(_ milliseconds: Int64, sentAt: ContinuousClock.Instant, receivedAt: ContinuousClock.Instant) {
        let middle = sentAt + (receivedAt - sentAt) / 2
        let server = Double(milliseconds) / 1000
        let isFirst = isSampled.withLock { !exchange(&$0, with: true) }
        state.withLock { state in
            let lead = isFirst ? 0 : state.time(at: middle) - server
            state = State(base: lead > 0 ? server + lead : server, anchor: middle, lead: max(0, lead))
        }
    }
}
