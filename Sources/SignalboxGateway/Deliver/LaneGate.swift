import SignalboxStore
import Synchronization

/// Says how much one lane may begin: as its places, its rate, its breaker and what the destination asked for allow. So
/// neither requests nor outcomes not yet on disk grow without bound.
final class LaneGate: Sendable {
    // A class because every attempt of the lane reports to it.
    private struct State {
        var sending = 0
        var unsettled = 0
        var isDraining = false
        var isStopping = false
        var isClosed = false
        var isRetired = false
        /// Attempts that are about to disable the destination.
        var shutters = 0
        var isFailing = false
        var isUnrecordable = false
        /// After a failed claim: how many successful claims may still come from memory. Nil without a failure.
        var uncertainClaims: Int?
        /// When the lane will be woken at the latest.
        var wakesAt: Duration?
        var breaker: Breaker
        var bucket: TokenBucket?
        var handshake: Handshake?
        /// When the destination asked for quiet until then.
        var quietUntil: Duration?
        var record = BackoffRecord()

        /// The present backoff; nil for none.
        func backoff(at now: Duration) -> BackoffRecord.Backoff? {
            if let until = breaker.openUntil { return .init(kind: .breakerOpen, until: until) }
            return quietUntil.flatMap { $0 > now ? .init(kind: .retryAfter, until: $0) : nil }
        }
    }

    private let state: Mutex<State>
    private let limit: Int
    private let perSecond: Double?
    private let unsettledLimit = 1024

    /// `perSecond`: the most attempts that begin in a second in the long run; nil for no limit. `handshake`: nil where
    /// nobody asks for permission.
    init(limit: Int, breaker: Breaker, perSecond: Double?, handshake: Handshake? = nil, at now: Duration) {
        self.limit = limit
        self.perSecond = perSecond
        let bucket = perSecond.map { TokenBucket(perSecond: $0, at: now) }
        state = Mutex(State(breaker: breaker, bucket: bucket, handshake: handshake))
    }

    enum Places: Equatable {
        /// All that are free now, which are taken with this answer; none until an attempt ends.
        case free(Int)
        /// One is free and taken with this answer; whoever gets it asks for permission first.
        case question
        /// Some may be free after this time. `isLong`: the destination is to be left alone, so that a stop need not wait.
        case later(Duration, isLong: Bool)
    }

    /// Takes all free places and says how many they are.
    func takePlaces(at now: Duration) -> Places {
        state.withLock { state in
            guard !state.isClosed, !state.isRetired, state.shutters == 0 else { return .free(0) }
            if let quiet = state.quietUntil, now < quiet { return .later(quiet - now, isLong: true) }
            state.quietUntil = nil
            var free = max(0, min(limit - state.sending, unsettledLimit - state.unsettled))
            guard free > 0 else { return .free(0) }
            switch state.breaker.permission(at: now) {
            case .any: break
            case .probe: free = 1
            case .none(let until): return .later(until - now, isLong: true)
            case .noneYet: return .free(0)
            }
            var asks = false
            switch state.handshake?.permission(at: now) {
            case nil, .given: break
            case .ask: asks = true
            case .withheld(let until): return .later(until - now, isLong: true)
            case .asking: return .free(0)
            }
            if asks { free = 1 }
            if let taken = state.bucket?.take(upTo: free, at: now) {
                guard taken > 0 else { return .later(state.bucket?.wait ?? .zero, isLong: state.isStopping) }
                free = taken
            }
            if state.breaker.permission(at: now) == .probe { state.breaker.beginProbe() }
            state.sending += free
            state.unsettled += free
            guard asks else { return .free(free) }
            state.handshake?.begin()
            return .question
        }
    }

    /// Gives places back that nothing was found for.
    func giveBack(_ count: Int, at now: Duration) {
        state.withLock { state in
            state.sending -= count
            state.unsettled -= count
            state.bucket?.giveBack(count)
            guard count > 0 else { return }
            state.breaker.abandonProbe(at: now)
            state.handshake?.abandon()
        }
    }

    /// A reply is here; its outcome is not yet on disk.
    func sent() { state.withLock { $0.sending -= 1 } }

    /// An outcome is on disk. True when nothing could be begun before it was.
    func settled() -> Bool {
        state.withLock { state in
            defer { state.unsettled -= 1 }
            return state.unsettled >= unsettledLimit
        }
    }

    // MARK: What attempts say

    enum Change: Equatable {
        case none
        /// It fails, for the first time since it last took something.
        case fails
        /// It failed so often that it is left alone.
        case leftAlone
        case takesAgain
    }

    /// The destination does not answer, or not as one in order does.
    func noteFailure(at now: Duration) -> Change {
        state.withLock { state in
            let wasFailing = state.isFailing
            state.isFailing = true
            if state.breaker.failed(at: now) { return .leftAlone }
            return wasFailing ? .none : .fails
        }
    }

    /// The destination answers, whatever it thinks of the event.
    func noteAnswer(delivered: Bool) -> Change {
        state.withLock { state in
            let closes = state.breaker.succeeded()
            guard delivered || closes else { return .none }
            defer { state.isFailing = false }
            return state.isFailing ? .takesAgain : .none
        }
    }

    /// No attempt could be made: it says nothing of the destination.
    func noteNothing(at now: Duration) { state.withLock { $0.breaker.abandonProbe(at: now) } }

    /// The destination asked for quiet.
    func keepQuiet(until: Duration) {
        state.withLock { $0.quietUntil = max($0.quietUntil ?? until, until) }
    }

    /// True for who shall wake the lane then; nobody would as early.
    func setTimer(_ time: Duration) -> Bool {
        state.withLock { state in
            if let earlier = state.wakesAt, earlier <= time { return false }
            state.wakesAt = time
            return true
        }
    }

    func timerEnded(_ time: Duration) {
        state.withLock { if $0.wakesAt == time { $0.wakesAt = nil } }
    }

    /// Notes an outcome that could not be recorded; true for the first one in a row.
    func noteUnrecorded() -> Bool {
        state.withLock { state in
            defer { state.isUnrecordable = true }
            return !state.isUnrecordable
        }
    }

    func noteRecorded() { state.withLock { $0.isUnrecordable = false } }

    /// Records a failed claim; true for the first one in a row. Claims from memory prove nothing about the file, so
    /// the row ends only after more successes than can come from memory in a row.
    func noteUnclaimed() -> Bool {
        state.withLock { state in
            defer { state.uncertainClaims = StoreLimits.longestRunFromMemory }
            return state.uncertainClaims == nil
        }
    }

    func noteClaimed() {
        state.withLock { state in
            guard let left = state.uncertainClaims else { return }
            state.uncertainClaims = left > 0 ? left - 1 : nil
        }
    }

    /// Nothing more is begun until ``reopen()``: that the destination is gone is not yet on disk.
    func shut() { state.withLock { $0.shutters += 1 } }

    func reopen() { state.withLock { $0.shutters -= 1 } }

    var isShut: Bool { state.withLock { $0.shutters > 0 } }

    /// True when nothing is under way and nothing but deliveries is wanting.
    func isIdle(at now: Duration) -> Bool {
        state.withLock { state in
            state.sending == 0 && state.unsettled == 0 && !state.isClosed && !state.isRetired && state.breaker.isClosed
                && (state.bucket?.isUnused(for: .seconds(5), at: now) ?? true) && (state.handshake?.isGiven ?? true)
                && (state.quietUntil.map { $0 <= now } ?? true)
        }
    }

    // MARK: What operators see

    /// Starts recording the backoff; false while another attempt records it.
    func beginRecording() -> Bool { state.withLock { $0.record.begin() } }

    /// While a probe is in progress, the record stays as it is.
    func nextRecord(at now: Duration) -> BackoffRecord.Step {
        state.withLock { state in
            let isProbing = state.breaker.openUntil == nil && !state.breaker.isClosed
            return state.record.next(isProbing ? state.record.recorded : state.backoff(at: now))
        }
    }

    var recordedBackoff: BackoffRecord.Backoff? { state.withLock(\.record.recorded) }

    func noteRecordKept() { state.withLock { $0.record.succeed() } }

    /// True for the first lost record in a row. `former`: the backoff that is still recorded.
    func noteRecordLost(before former: BackoffRecord.Backoff?) -> Bool {
        state.withLock { $0.record.fail(before: former) }
    }

    // MARK: What a destination that is asked says

    /// It permits so many requests in a minute, nil for as many as there are; the lower of this and the lane's own rate
    /// counts.
    func noteGiven(perMinute: Int?, at now: Duration) {
        state.withLock { state in
            state.handshake?.given(at: now)
            guard let rate = [perSecond, perMinute.map { Double($0) / 60 }].compactMap(\.self).min() else {
                state.bucket = nil
                return
            }
            guard state.bucket?.perSecond != rate else { return }
            state.bucket = TokenBucket(perSecond: rate, at: now)
            // For the one that asked.
            _ = state.bucket?.take(upTo: 1, at: now)
        }
    }

    /// It does not. `asked`: how long it wants not to be asked again.
    func noteWithheld(at now: Duration, asked: Duration) {
        state.withLock { $0.handshake?.withheld(at: now, asked: asked) }
    }

    /// Nobody asked after all.
    func abandonQuestion() { state.withLock { $0.handshake?.abandon() } }

    /// The permission that it gave counts no more: it is asked before anything else is begun.
    func takeBackPermission() { state.withLock { $0.handshake?.takeBack() } }

    /// If it gave none, it is asked again at once.
    func askAgain() { state.withLock { $0.handshake?.askAgain() } }

    // MARK: The end

    /// From now on the lane ends once nothing is due. `isStop`: or nothing due may be begun yet.
    func drain(isStop: Bool) {
        state.withLock { state in
            state.isDraining = true
            state.isStopping = state.isStopping || isStop
        }
    }

    /// From now on nothing more is begun here; another lane follows, or none, while the gateway goes on.
    func retire() { state.withLock { $0.isRetired = true } }

    /// From now on nothing more is begun.
    func close() { state.withLock { $0.isClosed = true } }

    var isDraining: Bool { state.withLock { $0.isDraining } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var isRetired: Bool { state.withLock { $0.isRetired } }
}
