import Synchronization

/// The backoff: its end by an operator, and its record, which operators and other processes see.
extension LaneGate {
    /// Ends the backoff, because an operator resumed the destination: a pause that the destination asked for, and the
    /// wait for the next probe of an open breaker. The breaker stays open until an attempt is answered.
    func resume(at now: Duration) {
        state.withLock { state in
            state.quietUntil = nil
            state.asksProbeAt = nil
            state.breaker.endWait(at: now)
            state.record.end(at: now)
        }
    }

    /// Starts recording the backoff; false while another task is recording it. The caller that gets true writes
    /// the steps of ``nextRecord(at:)`` until it is done.
    func beginRecording() -> Bool { state.withLock { $0.record.begin() } }

    /// The next change to record. A probe in flight does not change the record. Keeps the recorded backoff during a
    /// probe, because the probe decides whether it ends.
    func nextRecord(at now: Duration) -> BackoffRecord.Step {
        state.withLock { state in
            return state.record.next(state.breaker.isProbing ? state.record.recorded : state.backoff(at: now))
        }
    }

    /// The lane passes it back to ``recordingFailed(before:)`` after a failed write.
    var recordedBackoff: BackoffRecord.Backoff? { state.withLock(\.record.recorded) }

    /// The next failure is reported again.
    func recordingSucceeded() { state.withLock { $0.record.succeed() } }

    /// True for the first failure in a row. `former`: the backoff that is still recorded.
    func recordingFailed(before former: BackoffRecord.Backoff?) -> Bool {
        state.withLock { $0.record.fail(before: former) }
    }
}
