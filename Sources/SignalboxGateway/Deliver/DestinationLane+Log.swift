import Foundation
import Logging
import SignalboxNotification
import SignalboxStore

/// The log lines of a lane.
extension DestinationLane {
    /// Passes an answer to the gate, and logs when the destination starts to fail and when it recovers. Updates the
    /// pause, the breaker and the permission. Called once for each attempt, before its place is free. `begunAt`: of the
    /// attempt, on the lane's clock.
    func record(_ answer: RetryPolicy.Answer, of lease: Lease, begunAt: Duration, now: Date) {
        if let quiet = RetryPolicy.quiet(after: answer, now: now) {
            gate.keepQuiet(until: elapsed() + .seconds(quiet))
        }
        var change = LaneGate.Change.none
        switch RetryPolicy.health(by: answer) {
        case .unknown: gate.recordNoAnswer(begunAt: begunAt, at: elapsed())
        case .ill:
            _ = postponing.ends()
            change = gate.recordFailure(begunAt: begunAt, at: elapsed())
        case .well:
            _ = postponing.ends()
            change = gate.recordAnswer(delivered: (200..<300).contains(answer.status ?? 0), at: elapsed())
        }
        if Handshake.isTakenBack(by: answer.status) { gate.takeBackPermission() }
        let metadata: Logger.Metadata = [
            "destination": "\(name)", "event": "\(lease.event)", "reason": "\(answer.text)",
        ]
        switch change {
        case .none: break
        case .fails: logger.warning("Destination failing; deliveries queued for retry.", metadata: metadata)
        case .leftAlone:
            logger.warning(
                "Circuit breaker open; one attempt at a time until the destination answers.", metadata: metadata)
            observation?.changed(name, to: "breaker_open", because: answer.text)
        case .takesAgain:
            logger.notice("Destination recovered.", metadata: ["destination": "\(name)"])
            observation?.changed(name, to: "active")
        }
    }

    /// Logs each settlement once. Until one that disables the destination is on disk, others that do so are only
    /// failures.
    func report(_ settlements: [Settlement]) {
        let first = settlements.firstIndex { $0.disabling != nil }
        let disables = first != nil && queue.isActive(name) && disabling.begins()
        for (position, settlement) in settlements.enumerated() {
            report(settlement, disables: disables && position == first)
        }
    }

    /// Logs one settlement. The level follows from the outcome: warning for dead letters, error for the first of
    /// several postponed attempts, info for retries and expiries, debug for the rest. `disables`: whether it is the
    /// first one that disables the destination; its only line says so.
    private func report(_ settlement: Settlement, disables: Bool) {
        // Most settlements: formatting their metadata would cost more than their signatures.
        if case .delivered = settlement.outcome, logger.logLevel > .debug { return }
        let lease = settlement.lease
        var metadata: Logger.Metadata = [
            "event": "\(lease.event)", "destination": "\(lease.destination)", "attempt": "\(lease.earlier + 1)",
        ]
        if let trace = TraceContext(ofEvent: lease.body) { metadata["trace_id"] = "\(trace.traceID)" }
        if disables, let reason = settlement.disabling {
            metadata["reason"] = "\(reason)"
            logger.warning("Destination disabled; deliveries wait until it is resumed.", metadata: metadata)
            observation?.changed(name, to: DestinationState.disabled.rawValue, because: reason)
            return
        }
        switch settlement.outcome {
        case .delivered: logger.debug("Delivered.", metadata: metadata)
        case .retry(let wait, _, let reason):
            metadata["reason"] = "\(reason)"
            metadata["next"] = "\(Timestamp(queue.now.addingTimeInterval(wait / .seconds(1))).text)"
            logger.info("Delivery failed; retry scheduled.", metadata: metadata)
        case .postponed(_, let reason):
            metadata["reason"] = "\(reason)"
            // A withheld permission is logged once, when it is requested.
            let level: Logger.Level = queue.isWithheld(by: name) ? .info : postponing.begins() ? .error : .debug
            logger.log(level: level, "Attempt postponed.", metadata: metadata)
        case .dead(_, let reason):
            metadata["reason"] = "\(reason)"
            logger.warning("Delivery moved to dead letters.", metadata: metadata)
        case .expired: logger.info("Delivery expired before it was sent.", metadata: metadata)
        case .returned: logger.debug("Delivery returned to the queue.", metadata: metadata)
        }
    }

    /// Logs an outcome that was not recorded, because the lane no longer held the lease. Another process or a later
    /// claim settled the delivery meanwhile, so the receiver may get it twice.
    func reportLost(_ lease: Lease) {
        logger.warning(
            "Outcome not recorded: the lease was lost.",
            metadata: [
                "event": "\(lease.event)", "destination": "\(lease.destination)", "attempt": "\(lease.earlier + 1)",
            ])
    }
}
