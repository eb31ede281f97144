/// Says how many attempts may begin now so that no more than a rate do in the long run, and no more than one second's
/// worth at once. Pure: the time comes in, counted from any start.
struct TokenBucket: Sendable, Equatable {
    let perSecond: Double
    private let capacity: Double
    private var tokens: Double
    private var filledAt: Duration

    init(perSecond: Double, at now: Duration) {
        self.perSecond = perSecond
        capacity = max(1, perSecond)
        tokens = capacity
        filledAt = now
    }

    /// Takes as many as there are, at most `wanted`.
    mutating func take(upTo wanted: Int, at now: Duration) -> Int {
        // A clock that goes back gives nothing and takes nothing.
        tokens = min(capacity, tokens + max(0, (now - filledAt) / .seconds(1)) * perSecond)
        filledAt = now
        let taken = min(wanted, Int(tokens))
        tokens -= Double(taken)
        return taken
    }

    mutating func giveBack(_ count: Int) { tokens = min(capacity, tokens + Double(count)) }

    /// True when an attempt could have begun at least `time` ago and none did.
    func isUnused(for time: Duration, at now: Duration) -> Bool { wait + time <= now - filledAt }

    /// How long until there is one.
    var wait: Duration { .seconds(max(0, 1 - tokens) / perSecond) }
}
