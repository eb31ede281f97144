/// Decides whether a destination that keeps failing is left alone. Pure: the time comes in, counted from any start.
///
/// Closed, it lets everything through. After so many failures in a row it opens: nothing is begun until the probe time
/// is over. Then it is half open: one attempt is let through, whose end closes it or opens it again.
struct Breaker: Sendable, Equatable {
    private enum State: Equatable {
        case closed(failures: Int)
        case open(until: Duration)
        case halfOpen
    }

    private let failures: Int
    private let probe: Duration
    private var state = State.closed(failures: 0)

    /// `failures`: how many in a row open it.
    init(failures: Int, probe: Duration) {
        self.failures = failures
        self.probe = probe
    }

    enum Permission: Equatable {
        case any
        /// Only this one; whoever begins it calls ``beginProbe()``.
        case probe
        case none(until: Duration)
        /// Until the probe has ended.
        case noneYet
    }

    func permission(at now: Duration) -> Permission {
        switch state {
        case .closed: .any
        case .open(let until): now < until ? .none(until: until) : .probe
        case .halfOpen: .noneYet
        }
    }

    mutating func beginProbe() { state = .halfOpen }

    /// No attempt was made after all.
    mutating func abandonProbe(at now: Duration) {
        if state == .halfOpen { state = .open(until: now) }
    }

    /// True when this closes it.
    mutating func succeeded() -> Bool {
        defer { state = .closed(failures: 0) }
        if case .closed = state { return false }
        return true
    }

    /// True when this opens it for the first time since it was closed.
    mutating func failed(at now: Duration) -> Bool {
        switch state {
        case .closed(let count) where count + 1 < failures: state = .closed(failures: count + 1)
        case .closed:
            state = .open(until: now + probe)
            return true
        case .halfOpen: state = .open(until: now + probe)
        // What was under way when it opened says nothing new.
        case .open: break
        }
        return false
    }

    /// When the next attempt may begin; nil unless the breaker is open.
    var openUntil: Duration? { if case .open(let until) = state { until } else { nil } }

    var isClosed: Bool { if case .closed = state { true } else { false } }
}
