import Synchronization

/// The state that a lane passes on to its successor after a reload.
extension LaneGate {
    /// Takes over the state of the destination from a predecessor: the pause, the breaker, and a rate that did not
    /// change. Call it after the predecessor's last attempt, and before the first one of this lane. `withPermission`:
    /// also takes over a permission that was given. A withheld permission is requested again at once, because the
    /// receiver may grant it after the change of the config.
    func follow(_ former: LaneGate, withPermission: Bool, at now: Duration) {
        let former = former.state.withLock(\.self)
        state.withLock { state in
            state.isFailing = former.isFailing
            state.breaker.follow(former.breaker, at: now)
            state.isFollowing = former.isFollowing
            state.endsOthers = former.endsOthers
            state.answeredAt = former.answeredAt
            state.probesUntil = former.probesUntil
            state.asksProbeAt = former.asksProbeAt
            state.quietUntil = former.quietUntil
            state.record.follow(former.record)
            let hasPermission = withPermission && state.handshake?.follow(former.handshake) ?? false
            let isSameRate = hasPermission || state.bucket?.perSecond == former.bucket?.perSecond
            if isSameRate { state.bucket = former.bucket }
        }
    }
}
