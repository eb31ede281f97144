/// A circuit breaker for a destination that keeps failing. Pure: the caller passes the time, measured from any start.
///
/// Closed, it permits every attempt. After a number of failures in a row it opens and permits none until the probe
/// time is over. Then it is half open: it permits one attempt, whose result closes or reopens it.
struct Breaker: Sendable, Equatable {
    /// `failures` counts those in a row since the last success. `until` is the end of the probe time.
    private enum State: Equatable {
        /// Every attempt may start.
        case closed(failures: Int)
        /// No attempt may start before the time, and one after it.
        case open(until: Duration)
        /// The probe is in flight. Attempts that began before it may be, too.
        case halfOpen(since: Duration)
    }

    /// In a row; at least 1.
    private let failures: Int
    /// From the failure to the probe.
    let probe: Duration
    private var state = State.closed(failures: 0)

    /// `failures`: number of failures in a row that open it. `probe`: how long it stays open before it permits one
    /// attempt. Both come from the destination's `breaker` option.
    init(failures: Int, probe: Duration) { (self.failures, self.probe) = (failures, probe) }

    /// The attempts that may start now. Several may be in flight while the breaker is closed, one while it is half
    /// open.
    enum Permission: Equatable {
        /// Any number of attempts.
        case any
        /// One attempt. The caller calls ``beginProbe(at:)`` when it starts.
        case probe
        /// No attempt before this time.
        case none(until: Duration)
        /// No attempt may start until the probe has ended.
        case noneYet
    }

    /// Does not change the state, so a caller may ask again before it starts the attempt.
    func permission(at now: Duration) -> Permission {
        switch state {
        case .closed: .any
        case .open(let until): now < until ? .none(until: until) : .probe
        case .halfOpen: .noneYet
        }
    }

    /// Permits no other attempt until ``succeeded()``, or until the probe has failed or is abandoned.
    mutating func beginProbe(at now: Duration) { state = .halfOpen(since: now) }

    /// Records that an attempt was not sent. If it was the probe, the next attempt may probe at once.
    mutating func abandonProbe(begunAt: Duration, at now: Duration) {
        if isProbing(since: begunAt) { state = .open(until: now) }
    }

    /// True if this closes it. A success of any attempt counts, even of one that began before the breaker opened.
    mutating func succeeded() -> Bool {
        defer { state = .closed(failures: 0) }
        if case .closed = state { return false }
        return true
    }

    /// True if this opens a closed breaker. A failed probe opens it again for the whole probe time. Failures of
    /// attempts that began before the probe do not prolong that. `begunAt`: of the attempt.
    mutating func failed(begunAt: Duration, at now: Duration) -> Bool {
        switch state {
        case .closed(let count) where count + 1 < failures: state = .closed(failures: count + 1)
        case .closed:
            state = .open(until: now + probe)
            return true
        case .halfOpen(let start) where begunAt >= start: state = .open(until: now + probe)
        // An attempt that was in flight when it opened.
        case .open, .halfOpen: break
        }
        return false
    }

    /// Opens it for a failure that another process saw, or prolongs that. Has no effect during a probe.
    mutating func follow(until: Duration) {
        switch state {
        case .closed: state = .open(until: until)
        case .open(let earlier): state = .open(until: max(earlier, until))
        case .halfOpen: break
        }
    }

    /// Takes over the state of a predecessor, of which no attempt is in flight.
    mutating func follow(_ former: Breaker, at now: Duration) {
        state = former.state
        if isProbing { state = .open(until: now) }
    }

    /// Ends the wait for the next probe. Has no effect unless the breaker is open.
    mutating func endWait(at now: Duration) {
        if case .open(let until) = state, until > now { state = .open(until: now) }
    }

    /// When the next attempt may start; nil unless the breaker is open.
    var openUntil: Duration? { if case .open(let until) = state { until } else { nil } }

    /// The state in the word of the API.
    var word: LaneSnapshot.BreakerState {
        switch state {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .probing
        }
    }

    /// Failures since the last success. An open breaker counts no further ones.
    var failuresInARow: Int { if case .closed(let count) = state { count } else { failures } }

    /// True from ``beginProbe(at:)`` until the probe has ended.
    var isProbing: Bool { if case .halfOpen = state { true } else { false } }

    /// Whether an attempt that began then may be the probe in flight.
    func isProbing(since begunAt: Duration) -> Bool {
        if case .halfOpen(let start) = state { begunAt >= start } else { false }
    }

    /// False while it is open and during a probe.
    var isClosed: Bool { if case .closed = state { true } else { false } }
}
