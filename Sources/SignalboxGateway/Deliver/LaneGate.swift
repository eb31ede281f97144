import SignalboxStore
import Synchronization

/// Decides how many attempts one lane may start: limited by its concurrency, its rate, its breaker, and pauses and
/// permissions of the destination. Neither requests in flight nor outcomes that are not on disk grow without bound.
///
/// A class because the lane, the tasks that record its outcomes, and requests of operators share it.
final class LaneGate: Sendable {
    /// All of it is under one lock, which is never held during a wait or a call of other code.
    struct State {
        /// Attempts in flight; at most ``limit``.
        var sending = 0
        /// Attempts in flight, and outcomes that are not on disk yet.
        var unsettled = 0
        /// Whether the lane ends once no delivery is due.
        var isDraining = false
        /// Whether the drain is for a stop: then deliveries that must wait count as not due.
        var isStopping = false
        /// Whether the gateway stops.
        var isClosed = false
        /// Whether a reload replaced or removed the lane.
        var isRetired = false
        /// Attempts that are about to disable the destination.
        var shutters = 0
        /// Whether a failure was reported since the last delivery.
        var isFailing = false
        /// After a failed claim: the number of successful claims that may still be served from memory. Nil without a
        /// failure.
        var uncertainClaims: Int?
        /// Counts failures in a row.
        var breaker: Breaker
        /// Whether this breaker is open only because the breaker of another process is open.
        var isFollowing = false
        /// Whether the next answer to this process must also close the breakers of other processes.
        var endsOthers = false
        /// When the destination last answered.
        var answeredAt: Duration?
        /// Nil without a rate.
        var bucket: AttemptRate?
        /// Until when the store permits this process to probe.
        var probesUntil: Duration?
        /// When the lane may request the probe again.
        var asksProbeAt: Duration?
        /// Nil if the destination needs no permission.
        var handshake: Handshake?
        /// End of a pause that the destination asked for.
        var quietUntil: Duration?
        /// The backoff as operators see it in the queue.
        var record = BackoffRecord()

        /// The present backoff; nil for none. An open breaker takes precedence over a pause that the destination
        /// asked for.
        func backoff(at now: Duration) -> BackoffRecord.Backoff? {
            // The other process has recorded its own.
            if !isFollowing, let until = breaker.openUntil { return .init(kind: .breakerOpen, until: until) }
            return quietUntil.flatMap { $0 > now ? .init(kind: .retryAfter, until: $0) : nil }
        }
    }

    /// Serialises the lane and its tasks, which run on different threads.
    let state: Mutex<State>
    /// The destination's concurrency.
    private let limit: Int
    /// The rate of the config, in attempts per second; nil for no limit.
    let perSecond: Double?
    /// Whether several processes deliver to the destination.
    let isShared: Bool
    /// Outcomes that may wait for the disk; beyond it the lane starts no attempt.
    private let unsettledLimit = 1024

    /// `perSecond`: maximum rate of attempts; nil for no limit. `handshake`: nil if the destination needs no
    /// permission. `limit`: requests in flight at the same time. `at`: the lane's clock now, from which the rate
    /// counts. `isShared`: whether the store gives out attempts and probes.
    init(
        limit: Int, breaker: Breaker, perSecond: Double?, handshake: Handshake? = nil, isShared: Bool = false,
        at now: Duration
    ) {
        (self.limit, self.perSecond, self.isShared) = (limit, perSecond, isShared)
        let bucket = perSecond.map { AttemptRate(perSecond: $0, isShared: isShared, at: now) }
        state = Mutex(State(breaker: breaker, bucket: bucket, handshake: handshake))
    }

    /// The caller starts as many attempts as it takes places, or gives the others back.
    enum Places: Equatable {
        /// This many places were taken; zero until an attempt ends.
        case free(Int)
        /// One place was taken, for an attempt that first requests permission.
        case question
        /// The lane must first request attempts of this rate from the store. It took no place.
        case needsAttempts(perSecond: Double)
        /// The lane must first request the probe from the store. It took no place.
        case needsProbe
        /// A place may be free after this time. `isLong`: a pause of the destination, for which a stop need not wait.
        case later(Duration, isLong: Bool)

        /// The number of places taken.
        var count: Int {
            switch self {
            case .free(let count): count
            case .question: 1
            case .later, .needsAttempts, .needsProbe: 0
            }
        }
    }

    /// Takes all free places. Checks in this order: end of the lane, pause, concurrency, breaker, permission, rate. The
    /// first limit that holds decides. Each place counts as sending and as unsettled until ``sent()`` and
    /// ``settled(_:)``. `share`: the part of the limit that this process may use; nil for all of it.
    func takePlaces(at now: Duration, outOf share: Int? = nil) -> Places {
        state.withLock { state in
            guard !state.isClosed, !state.isRetired, state.shutters == 0 else { return .free(0) }
            if let quiet = state.quietUntil, now < quiet { return .later(quiet - now, isLong: true) }
            state.quietUntil = nil
            var free = max(0, min((share ?? limit) - state.sending, unsettledLimit - state.unsettled))
            guard free > 0 else { return .free(0) }
            if let obstacle = breakerObstacle(of: &free, state, at: now) { return obstacle }
            var asks = false
            switch state.handshake?.permission(at: now) {
            case nil, .given: break
            case .ask: asks = true
            case .withheld(let until): return .later(until - now, isLong: true)
            case .asking: return .free(0)
            }
            if asks { free = 1 }
            if let taken = state.bucket?.take(upTo: free, at: now) {
                guard taken > 0 else {
                    guard let wait = state.bucket?.wait(at: now) else {
                        return .needsAttempts(perSecond: state.bucket?.perSecond ?? 1)
                    }
                    return .later(wait, isLong: state.isStopping)
                }
                free = taken
            }
            if state.breaker.permission(at: now) == .probe { state.breaker.beginProbe(at: now) }
            state.sending += free
            state.unsettled += free
            guard asks else { return .free(free) }
            state.handshake?.begin()
            return .question
        }
    }

    /// Returns places for which there was no delivery. Undoes everything that ``takePlaces(at:outOf:)`` did for these
    /// places, including a probe and a question that were begun.
    func giveBack(_ count: Int, at now: Duration) {
        state.withLock { state in
            state.sending -= count
            state.unsettled -= count
            state.bucket?.giveBack(count)
            guard count > 0 else { return }
            state.breaker.abandonProbe(begunAt: now, at: now)
            state.handshake?.abandon()
        }
    }

    /// Records that an attempt has ended; its outcome is not on disk yet. The place is free for another attempt, but
    /// still counts as unsettled. Call it once for each place.
    func sent() { state.withLock { $0.sending -= 1 } }

    /// Records that the outcomes of `count` places are on disk. True if no attempt could start before that: the lane
    /// must be woken.
    func settled(_ count: Int = 1) -> Bool {
        state.withLock { state in
            defer { state.unsettled -= count }
            return state.unsettled >= unsettledLimit
        }
    }

    // MARK: Results of attempts

    /// The lane logs each change once, as a transition of the destination.
    enum Change: Equatable {
        /// Not a transition; nothing to log.
        case none
        /// The destination started to fail.
        case fails
        /// The breaker opened.
        case leftAlone
        /// The destination recovered.
        case takesAgain
    }

    /// Records that the destination did not answer, or answered with a server error. The breaker counts failures in a
    /// row. A failure before it opens is reported once, until the destination recovers. `begunAt`: of the attempt.
    func recordFailure(begunAt: Duration, at now: Duration) -> Change {
        state.withLock { state in
            let wasFailing = state.isFailing
            state.isFailing = true
            state.isFollowing = state.isFollowing && !state.breaker.isProbing(since: begunAt)
            if state.breaker.failed(begunAt: begunAt, at: now) { return .leftAlone }
            return wasFailing ? .none : .fails
        }
    }

    /// Records that the destination answered. `delivered`: whether with 2xx. Every answer closes the breaker, but only
    /// a delivery or a closing breaker ends the state of failing. `now`: nil in tests of one process.
    func recordAnswer(delivered: Bool, at now: Duration? = nil) -> Change {
        state.withLock { state in
            let closes = state.breaker.succeeded()
            if closes, isShared { state.endsOthers = true }
            (state.isFollowing, state.answeredAt) = (false, now)
            guard delivered || closes else { return .none }
            defer { state.isFailing = false }
            return state.isFailing ? .takesAgain : .none
        }
    }

    /// Records an attempt after which the destination's health is unknown. Such a probe leaves the breaker open, and
    /// the next attempt may probe. `begunAt`: of the attempt.
    func recordNoAnswer(begunAt: Duration, at now: Duration) {
        state.withLock { $0.breaker.abandonProbe(begunAt: begunAt, at: now) }
    }

    /// The same for a place whose delivery was not attempted, which the rate does not count.
    func recordUnsent(begunAt: Duration, at now: Duration) {
        state.withLock { state in
            state.breaker.abandonProbe(begunAt: begunAt, at: now)
            state.bucket?.giveBack(1)
        }
    }

    /// Pauses attempts, as the destination asked. An earlier, longer pause stays in effect. `until`: on the lane's
    /// clock.
    func keepQuiet(until: Duration) { state.withLock { $0.quietUntil = max($0.quietUntil ?? until, until) } }

    /// Records a failed claim; true for the first one in a row. Claims from memory do not prove that the file works,
    /// so the row ends only after more successes than can be served from memory. Otherwise each failed claim of a
    /// long outage would log a line.
    func recordFailedClaim() -> Bool {
        state.withLock { exchange(&$0.uncertainClaims, with: StoreLimits.longestRunFromMemory) == nil }
    }

    /// Records a successful claim.
    func recordClaim() {
        state.withLock { state in
            guard let left = state.uncertainClaims else { return }
            state.uncertainClaims = left > 0 ? left - 1 : nil
        }
    }

    /// Stops attempts until ``reopen()``, while the settlement that disables the destination is not on disk. Several
    /// attempts may shut the gate; it opens when each has called ``reopen()``.
    func shut() { state.withLock { $0.shutters += 1 } }

    /// Call it once for each ``shut()``, when the settlement is on disk.
    func reopen() { state.withLock { $0.shutters -= 1 } }

    /// Whether no attempt may begin, because the gate is shut or its lane retired. Each attempt checks this before it
    /// sends: its delivery may have been claimed before.
    var isShut: Bool { state.withLock { $0.shutters > 0 || $0.isRetired } }

    /// True if an attempt is in flight, or its outcome is not on disk yet.
    var hasUnsettled: Bool { state.withLock { $0.unsettled > 0 } }

    /// True if an attempt is in flight.
    var isSending: Bool { state.withLock { $0.sending > 0 } }

    /// True if no attempt is in flight and attempts may start. The watchdog uses it. A rate that was unused for five
    /// seconds counts as idle, a shorter pause does not.
    func isIdle(at now: Duration) -> Bool {
        state.withLock { state in
            state.sending == 0 && state.unsettled == 0 && !state.isClosed && !state.isRetired && state.breaker.isClosed
                && (state.bucket?.isUnused(for: .seconds(5), at: now) ?? true) && (state.handshake?.isGiven ?? true)
                && (state.quietUntil.map { $0 <= now } ?? true)
        }
    }

    // MARK: End

    /// Ends the lane once no delivery is due. With `isStop`, even if no due delivery may be attempted yet: a lane that
    /// waits for a token of its rate then counts as exhausted.
    func drain(isStop: Bool) {
        state.withLock { state in
            state.isDraining = true
            state.isStopping = state.isStopping || isStop
        }
    }

    /// Starts no further attempt: a successor may follow. Attempts in flight continue. It cannot be undone.
    func retire() { state.withLock { $0.isRetired = true } }

    /// Starts no further attempt: the gateway stops. A lane that is closed gives up settlements that fail, instead of
    /// retrying them.
    func close() { state.withLock { $0.isClosed = true } }

    /// True after ``drain(isStop:)``.
    var isDraining: Bool { state.withLock { $0.isDraining } }
    /// True after a drain for a stop.
    var isStopping: Bool { state.withLock { $0.isStopping } }
    /// True after ``close()``.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// True after ``retire()``.
    var isRetired: Bool { state.withLock { $0.isRetired } }
}
