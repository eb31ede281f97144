import SignalboxStore

/// The rate of a lane's attempts: its own, or its part of one that several processes share. Pure: the caller passes the
/// time, measured from any start.
enum AttemptRate: Sendable, Equatable {
    case own(TokenBucket)
    case shared(SharedRate)

    /// `isShared`: whether the store gives out the attempts.
    init(perSecond: Double, isShared: Bool, at now: Duration) {
        self =
            isShared
            ? .shared(SharedRate(perSecond: perSecond, at: now)) : .own(TokenBucket(perSecond: perSecond, at: now))
    }

    var perSecond: Double {
        switch self {
        case .own(let bucket): bucket.perSecond
        case .shared(let rate): rate.perSecond
        }
    }

    /// Takes the available attempts, at most `limit`; returns their number.
    mutating func take(upTo limit: Int, at now: Duration) -> Int {
        switch self {
        case .own(var bucket):
            defer { self = .own(bucket) }
            return bucket.take(upTo: limit, at: now)
        case .shared(var rate):
            defer { self = .shared(rate) }
            return rate.take(upTo: limit)
        }
    }

    /// For attempts that were not made.
    mutating func giveBack(_ count: Int) {
        switch self {
        case .own(var bucket):
            bucket.giveBack(count)
            self = .own(bucket)
        case .shared(var rate):
            rate.giveBack(count)
            self = .shared(rate)
        }
    }

    /// Time until the next attempt may be available; nil when the lane must request some from the store.
    func wait(at now: Duration) -> Duration? {
        switch self {
        case .own(let bucket): bucket.wait
        case .shared(let rate): rate.asksAt <= now ? nil : rate.asksAt - now
        }
    }

    /// True if an attempt could have started at least `time` ago and none did.
    func isUnused(for time: Duration, at now: Duration) -> Bool {
        switch self {
        case .own(let bucket): bucket.isUnused(for: time, at: now)
        case .shared(let rate): rate.asksAt + time <= now
        }
    }

    /// Whether no attempt could start now.
    func isEmpty(at now: Duration) -> Bool {
        switch self {
        case .own(let bucket): bucket.isEmpty(at: now)
        case .shared(let rate): rate.count == 0 && now < rate.asksAt
        }
    }
}

/// The attempts that a lane took from the store and has not made yet. Pure.
struct SharedRate: Sendable, Equatable {
    let perSecond: Double
    private(set) var count = 0
    /// When the lane may request attempts again.
    private(set) var asksAt: Duration

    init(perSecond: Double, at now: Duration) { (self.perSecond, asksAt) = (perSecond, now) }

    mutating func take(upTo limit: Int) -> Int {
        let taken = min(limit, count)
        count -= taken
        return taken
    }

    mutating func giveBack(_ unused: Int) { count += unused }

    /// Adds the attempts that the store granted.
    mutating func add(_ share: AttemptShare, at now: Duration) {
        count += share.count
        asksAt = share.count > 0 ? now : now + share.wait
    }

    /// Removes what is left, to be returned to the store.
    mutating func takeAll() -> Int { exchange(&count, with: 0) }
}
