import SignalboxStore
import Synchronization

/// The breaker, and the limits that several processes share.
extension LaneGate {
    /// Why the breaker permits no attempt now; nil if it permits some. Reduces `free` to one for a probe.
    func breakerObstacle(of free: inout Int, _ state: State, at now: Duration) -> Places? {
        switch state.breaker.permission(at: now) {
        case .any: return nil
        case .probe:
            if isShared, state.probesUntil.map({ $0 <= now }) ?? true {
                if let time = state.asksProbeAt, now < time { return .later(time - now, isLong: true) }
                return .needsProbe
            }
            free = 1
            return nil
        case .none(let until): return .later(until - now, isLong: true)
        case .noneYet: return .free(0)
        }
    }

    /// Adds attempts that the store gave.
    func add(_ share: AttemptShare, at now: Duration) {
        state.withLock { state in
            guard case .shared(var rate) = state.bucket else { return }
            rate.add(share, at: now)
            state.bucket = .shared(rate)
        }
    }

    /// Attempts that are left, to be returned to the store; nil for none.
    func takeUnused() -> (count: Int, perSecond: Double)? {
        state.withLock { state in
            guard case .shared(var rate) = state.bucket else { return nil }
            let count = rate.takeAll()
            state.bucket = .shared(rate)
            return count > 0 ? (count, rate.perSecond) : nil
        }
    }

    /// The store's answer to the request for the probe. `wait`: until the next request; nil lets this process probe.
    func recordProbe(wait: Duration?, at now: Duration) {
        state.withLock { state in
            state.probesUntil = wait == nil ? now + state.breaker.probe : nil
            state.asksProbeAt = wait.map { now + $0 }
        }
    }

    /// Applies the backoffs of other processes. `breakerOpen`: the end of their open breaker, which keeps this one
    /// open; nil closes a breaker that is open only because of theirs. `quiet`: the end of a pause that the destination
    /// requested there; nil does not shorten a pause. Both are times of the lane's clock. Ignores a breaker that opened
    /// there before the destination last answered this process.
    func follow(breakerOpen: Duration?, quiet: Duration?, at now: Duration) {
        state.withLock { state in
            if let quiet, quiet > now { state.quietUntil = max(state.quietUntil ?? quiet, quiet) }
            guard let breakerOpen else {
                if state.isFollowing, !state.breaker.isProbing { _ = state.breaker.succeeded() }
                state.isFollowing = state.isFollowing && state.breaker.isProbing
                return
            }
            let failedAt = breakerOpen - state.breaker.probe
            guard state.isFollowing || state.breaker.isClosed, state.answeredAt.map({ $0 < failedAt }) ?? true else {
                return
            }
            state.breaker.follow(until: breakerOpen)
            state.isFollowing = true
        }
    }

    /// Ends the breaker that this process opened, because another one had an answer. Has no effect during a probe,
    /// which decides by itself.
    func endBreaker() {
        state.withLock { state in
            guard !state.breaker.isProbing else { return }
            if !state.isFollowing { _ = state.breaker.succeeded() }
            state.record.forget()
        }
    }

    /// Whether an answer closed the breaker, so that those of the other processes end too. True once for each such
    /// answer.
    func takeEndOfOthers() -> Bool { state.withLock { exchange(&$0.endsOthers, with: false) } }

    /// How long the breaker stays open after a failed probe.
    var probeTime: Duration { state.withLock(\.breaker.probe) }
}
