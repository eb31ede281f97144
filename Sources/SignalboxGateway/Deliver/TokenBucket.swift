/// Limits the rate of attempts; bursts are limited to one second's worth. Pure: the caller passes the time, measured
/// from any start.
struct TokenBucket: Sendable, Equatable {
    let perSecond: Double
    /// One second's worth of tokens, at least one.
    private let capacity: Double
    private var tokens: Double
    private var filledAt: Duration

    /// `perSecond`: above zero. The bucket is full at first, with at least one token.
    init(perSecond: Double, at now: Duration) {
        self.perSecond = perSecond
        capacity = max(1, perSecond)
        tokens = capacity
        filledAt = now
    }

    /// Takes the available tokens, at most `limit`; returns their number. Returns zero if there is no whole token;
    /// ``wait`` then says how long to wait.
    mutating func take(upTo limit: Int, at now: Duration) -> Int {
        // A clock that goes back neither adds nor removes tokens.
        tokens = min(capacity, tokens + max(0, (now - filledAt) / .seconds(1)) * perSecond)
        filledAt = now
        let taken = min(limit, Int(tokens))
        tokens -= Double(taken)
        return taken
    }

    /// For attempts that were not made. The bucket never holds more than its capacity.
    mutating func giveBack(_ count: Int) { tokens = min(capacity, tokens + Double(count)) }

    /// True if an attempt could have started at least `time` ago and none did. The watchdog uses it to tell a lane
    /// that waits for its rate from one that has stopped.
    func isUnused(for time: Duration, at now: Duration) -> Bool { wait + time <= now - filledAt }

    /// Whether no attempt could start now. Changes nothing.
    func isEmpty(at now: Duration) -> Bool { tokens + max(0, (now - filledAt) / .seconds(1)) * perSecond < 1 }

    /// Time until the next token. At the time of the last ``take(upTo:at:)``. Zero if a token is there.
    var wait: Duration { .seconds(max(0, 1 - tokens) / perSecond) }
}
