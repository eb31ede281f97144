/// When this node saw the last heartbeats of the others, by its own clock. If the server's clock alone decided, a step
/// forward would make all heartbeats old but the node's own.
struct OtherHeartbeats {
    /// By node: the time of the last heartbeat by the server's clock, in microseconds, and when this node first saw it.
    private var seen: [Int64: (time: Int64, at: ContinuousClock.Instant)] = [:]

    /// Records the heartbeats of ``Takeover/others``, and returns the nodes that are silent by both clocks. A node is
    /// not silent when it is first seen. `now`: after reading the heartbeats.
    ///
    /// By this clock, ``NodeMembership/safety`` suffices: a node sees a heartbeat after it was sent, so the other
    /// node has ended its attempts by then.
    mutating func silent(_ rows: PostgresRows, at now: ContinuousClock.Instant) throws -> [Int64] {
        try silent(rows.map { (node: try $0.number(0), time: try $0.number(1), isOld: try $0.flag(2)) }, at: now)
    }

    /// The same for decoded rows.
    mutating func silent(
        _ heartbeats: [(node: Int64, time: Int64, isOld: Bool)], at now: ContinuousClock.Instant
    ) -> [Int64] {
        var known: [Int64: (time: Int64, at: ContinuousClock.Instant)] = [:]
        for (node, time, _) in heartbeats {
            known[node] = seen[node].flatMap { $0.time == time ? $0 : nil } ?? (time, now)
        }
        seen = known
        return heartbeats.filter { heartbeat in
            heartbeat.isOld && known[heartbeat.node].map { now - $0.at >= NodeMembership.safety } ?? false
        }.map(\.node)
    }
}
