/// Counts failed proofs of identity by network: one IPv6 client has 2⁶⁴ addresses. Says which answers to hold.
/// Bounded, and constant work for each failure except for one sweep a second.
struct FailedNetworks {
    /// The consequences of one failure.
    struct Verdict: Equatable {
        /// The number of failures of the network to log now: the first one at once, later ones together, once a
        /// minute; otherwise 0.
        let toLog: Int
        /// Whether the network has no count of its own.
        let isOther: Bool
        /// Whether to hold the answer for ``delay``. Never for networks without a count of their own: they share one,
        /// and most of them did nothing wrong.
        let isSlowed: Bool
    }

    /// The failures of one network since the first one of a minute.
    private struct Count {
        /// The time of the first failure of the minute.
        var since: ContinuousClock.Instant
        /// The failures after the first.
        var later = 0
    }

    /// The most failures of a network within a minute that are answered at once.
    private static let mostAtOnce = 10
    /// How long the answer to each further one is held.
    static let delay: Duration = .seconds(1)
    /// The time that a count and a log line cover.
    static let interval: Duration = .seconds(60)
    /// The most networks with a count of their own.
    private static let most = 1_000
    /// Old counts are removed at most this often, because that visits all of them.
    private static let sweepInterval: Duration = .seconds(1)

    /// The key nil combines all networks beyond ``most``.
    private var counts: [PeerAddress?: Count] = [:]
    /// Nil until the table was full for the first time.
    private var sweptAt: ContinuousClock.Instant?

    /// Counts a failure of the network of `peer`. `now`: of a monotonic clock.
    mutating func count(_ peer: PeerAddress, at now: ContinuousClock.Instant) -> Verdict {
        let network = key(of: peer, at: now)
        guard var count = counts[network] else {
            counts[network] = Count(since: now)
            return Verdict(toLog: 1, isOther: network == nil, isSlowed: false)
        }
        count.later += 1
        let isDue = now - count.since >= Self.interval
        counts[network] = isDue ? Count(since: now) : count
        return Verdict(
            toLog: isDue ? count.later : 0, isOther: network == nil,
            isSlowed: !isDue && network != nil && count.later >= Self.mostAtOnce)
    }

    /// The key that counts a network; nil when there are too many. Removes old counts to make room.
    private mutating func key(of network: PeerAddress, at now: ContinuousClock.Instant) -> PeerAddress? {
        guard counts[network] == nil, counts.count >= Self.most else { return network }
        if sweptAt.map({ now - $0 >= Self.sweepInterval }) ?? true {
            sweptAt = now
            counts = counts.filter { now - $0.value.since < Self.interval }
        }
        return counts.count < Self.most ? network : nil
    }
}
