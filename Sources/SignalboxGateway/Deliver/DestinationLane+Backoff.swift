import Foundation
import Logging
import SignalboxConfig
import SignalboxStore

/// Records a lane's backoff, so that operators see why nothing is sent.
extension DestinationLane {
    /// Records in the queue how an answer changed the backoff.
    func recordBackoff(after answer: RetryPolicy.Answer) async {
        guard gate.beginRecording() else { return }
        while true {
            let former = gate.recordedBackoff
            guard case .record(let backoff) = gate.nextRecord(at: elapsed()) else { return }
            do throws(StoreError) {
                try await queue.record(backoff.map { described($0, answer) }, of: name)
                gate.noteRecordKept()
            } catch {
                guard gate.noteRecordLost(before: former) else { return }
                return logger.error(
                    "The state of a destination cannot be recorded.",
                    metadata: ["destination": "\(name)", "error": "\(error)"])
            }
        }
    }

    private func described(_ backoff: BackoffRecord.Backoff, _ answer: RetryPolicy.Answer) -> DestinationBackoff {
        let reason =
            switch backoff.kind {
            case .breakerOpen:
                "circuit breaker open after \(destination.breaker.failures) failures in a row, the last: \(answer.words)"
            case .retryAfter: "the destination asked for a pause: \(answer.words)"
            }
        let now = Date()
        return DestinationBackoff(
            backoff.kind, reason: reason, since: now,
            until: now.addingTimeInterval((backoff.until - elapsed()) / .seconds(1)))
    }

    /// Removes the record when the lane ends, because its breaker ends with it.
    func forgetBackoff() async {
        guard gate.recordedBackoff != nil else { return }
        do throws(StoreError) {
            try await queue.record(nil, of: name)
        } catch {
            logger.error(
                "The state of a destination cannot be recorded.",
                metadata: ["destination": "\(name)", "error": "\(error)"])
        }
    }
}
