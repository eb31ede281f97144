import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxStore

/// Permission and backoff of a destination, recorded in the queue so that operators and other processes see them.
extension DestinationLane {
    /// True if a delivery may block later ones, so that overdue deliveries do not prove a stalled lane.
    var isOrdered: Bool { destination.ordering != nil }

    /// True if the lane may start attempts and none is in flight. The watchdog uses it: an idle lane with overdue
    /// deliveries is a defect.
    var isIdle: Bool {
        queue.isActive(name) && gate.isIdle(at: elapsed())
            // Without a share of the places, other processes send.
            && queue.places(of: name, outOf: destination.concurrency) ?? 0 > 0
    }

    /// True from ``retire()`` on.
    var isRetired: Bool { gate.isRetired }

    // MARK: Limits that processes share

    /// Takes attempts of the rate. After a failure of the store, asks again a second later.
    func takeAttempts(_ perSecond: Double) async {
        var share = AttemptShare(count: 0, wait: .seconds(1))
        await record { () throws(StoreError) in share = try await queue.takeAttempts(of: name, perSecond: perSecond) }
        gate.add(share, at: elapsed())
    }

    /// Asks to be the one process that probes. After a failure of the store, asks again a second later.
    func askForProbe() async {
        var wait: Duration? = .seconds(1)
        await record { () throws(StoreError) in
            wait = try await queue.beginProbe(of: name, lasting: gate.probeTime)
        }
        gate.recordProbe(wait: wait, at: elapsed())
    }

    /// Applies the backoffs that other processes have recorded.
    func followOthers() {
        let others = queue.othersBackoff(from: name)
        if others.hasEndedOwn { gate.endBreaker() }
        let (now, date) = (elapsed(), queue.now)
        func end(_ time: Date?) -> Duration? { time.map { now + .seconds($0.timeIntervalSince(date)) } }
        gate.follow(breakerOpen: end(others.breakerOpen), quiet: end(others.quiet), at: now)
    }

    /// Returns attempts for which there is no delivery, so that other processes can make them.
    func returnUnused() async {
        guard let (count, perSecond) = gate.takeUnused() else { return }
        await record { () throws(StoreError) in
            try await queue.returnAttempts(count, of: name, perSecond: perSecond)
        }
    }

    // MARK: Permission

    /// Requests the destination's permission and passes the reply to the gate. Nil if permission was given; otherwise
    /// the outcome of the deliveries that were to be sent. Records a refusal in the queue and in the gate. The
    /// deliveries are then due at once, and the gate holds them back.
    func outcomeWithoutPermission() async -> Outcome? {
        switch await sender.askPermission() {
        case .unknown:
            gate.abandonQuestion()
            return .returned
        case .withheld(let reason, let retryAfter):
            if !queue.isWithheld(by: name) {
                logger.warning(
                    "Permission withheld; deliveries queued until the destination grants it.",
                    metadata: ["destination": "\(name)", "reason": "\(reason)"])
                observation?.changed(name, to: "withheld", because: reason)
            }
            await record { () throws(StoreError) in try await queue.withhold(reason, by: name) }
            let now = queue.now
            let asked = min(retryAfter?.delay(from: now) ?? 0, RetryPolicy.longestRetryAfter)
            gate.recordWithheld(at: elapsed(), asked: .seconds(asked))
            // Due as before, so the delivery stays first in its order, and its lateness grows. The gate decides when
            // permission is requested again.
            return .postponed(for: .zero, reason: reason)
        case .given(let perMinute):
            gate.recordGiven(perMinute: perMinute, at: elapsed())
            if queue.isWithheld(by: name) {
                logger.notice("Permission granted.", metadata: ["destination": "\(name)"])
                observation?.changed(name, to: "active")
                await forgetWithheld()
            }
            // More attempts may be allowed now.
            wake()
            return nil
        }
    }

    /// Removes the record that permission is withheld, even that of an earlier process. A destination without a
    /// handshake needs no permission, so the lane also calls it at its start.
    func forgetWithheld() async {
        guard queue.isWithheld(by: name) else { return }
        await record { () throws(StoreError) in try await queue.permit(by: name) }
    }

    // MARK: Backoff

    /// Records how answers changed the backoff. One list of outcomes at a time records; it repeats until the record
    /// equals the state. A failed write is retried after the next answer. `answers`: at least one, in their order.
    func recordBackoff(after answers: [RetryPolicy.Answer]) async {
        guard gate.beginRecording() else { return }
        while true {
            let former = gate.recordedBackoff
            guard case .record(let backoff) = gate.nextRecord(at: elapsed()) else { return }
            do throws(StoreError) {
                try await queue.record(backoff.map { described($0, answers) }, of: name)
                gate.recordingSucceeded()
            } catch {
                if gate.recordingFailed(before: former) { reportUnrecorded(error) }
                return
            }
        }
    }

    /// Ends the recorded breakers of other processes after an answer that closed this one's.
    func endOthersBreakers() async {
        guard gate.takeEndOfOthers() else { return }
        await record { () throws(StoreError) in try await queue.endBreakers(of: name) }
    }

    /// The record for operators: reason, start and end by the queue's clock. The end comes from the lane's clock.
    private func described(_ backoff: BackoffRecord.Backoff, _ answers: [RetryPolicy.Answer]) -> DestinationBackoff {
        let now = queue.now
        func last(_ isReason: (RetryPolicy.Answer) -> Bool) -> String {
            (answers.last(where: isReason) ?? answers.last)?.text ?? ""
        }
        let reason =
            switch backoff.kind {
            case .breakerOpen:
                "circuit breaker open after \(destination.breaker.failures) failures in a row, the last: \(last { RetryPolicy.health(by: $0) == .ill })"
            case .retryAfter:
                "the destination asked for a pause: \(last { RetryPolicy.quiet(after: $0, now: now) != nil })"
            }
        return DestinationBackoff(
            backoff.kind, reason: reason, since: now,
            until: now.addingTimeInterval((backoff.until - elapsed()) / .seconds(1)))
    }

    /// Removes the record when the lane has ended and no successor continues its backoff. Otherwise operators would see
    /// a backoff that no process applies.
    func forgetBackoff() async {
        guard gate.recordedBackoff != nil else { return }
        await record { () throws(StoreError) in try await queue.record(nil, of: name) }
    }

    /// Logs a failure and continues: the status is information for operators and does not decide about deliveries.
    private func record(_ write: () async throws(StoreError) -> Void) async {
        do throws(StoreError) { try await write() } catch { reportUnrecorded(error) }
    }

    /// Several errors of the file are logged; the caller limits their number.
    private func reportUnrecorded(_ error: StoreError) {
        // The connection reports a database that cannot be reached.
        guard !error.isUnreachable else { return }
        logger.error(
            "Cannot record the status of a destination.", metadata: ["destination": "\(name)", "error": "\(error)"])
    }
}
