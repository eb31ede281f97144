import Synchronization

/// The permission of a destination that requires a handshake.
extension LaneGate {
    /// Records a permission. `perMinute`: permitted requests per minute, nil for no limit. The lower of this and the
    /// lane's own rate applies. A rate that did not change keeps its bucket, so that a repeated permission grants no
    /// extra burst.
    func recordGiven(perMinute: Int?, at now: Duration) {
        state.withLock { state in
            state.handshake?.given(at: now)
            guard let rate = [perSecond, perMinute.map { Double($0) / 60 }].compactMap(\.self).min() else {
                state.bucket = nil
                return
            }
            guard state.bucket?.perSecond != rate else { return }
            state.bucket = AttemptRate(perSecond: rate, isShared: isShared, at: now)
            // For the attempt that requested permission.
            _ = state.bucket?.take(upTo: 1, at: now)
        }
    }

    /// Records that permission was withheld. `asked`: minimum time until the next request for it. The longer one of
    /// `asked` and the handshake's own backoff applies.
    func recordWithheld(at now: Duration, asked: Duration) {
        state.withLock { $0.handshake?.withheld(at: now, asked: asked) }
    }

    /// Records that permission was not requested after all. The next attempt requests permission instead.
    func abandonQuestion() { state.withLock { $0.handshake?.abandon() } }

    /// Invalidates a permission: the next attempt requests it again.
    func takeBackPermission() { state.withLock { $0.handshake?.takeBack() } }

    /// Requests a withheld permission at once. An operator resumed the destination, so the backoff of refusals does
    /// not apply.
    func askAgain() { state.withLock { $0.handshake?.askAgain() } }
}
