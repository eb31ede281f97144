import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// What a lane says in the log.
extension DestinationLane {
    /// Tells the gate what an answer says of the destination, and says once when it begins to fail and once when it takes
    /// events again.
    func note(_ answer: RetryPolicy.Answer, of lease: Lease, now: Date) {
        if let quiet = RetryPolicy.quiet(after: answer, now: now) {
            gate.keepQuiet(until: elapsed() + .seconds(quiet))
        }
        let change =
            switch RetryPolicy.health(by: answer) {
            case .ill: gate.noteFailure(at: elapsed())
            case .well: gate.noteAnswer(delivered: (200..<300).contains(answer.status ?? 0))
            case .unknown: LaneGate.Change.none
            }
        if Handshake.isTakenBack(by: answer.status) { gate.takeBackPermission() }
        if RetryPolicy.health(by: answer) == .unknown { gate.noteNothing(at: elapsed()) }
        guard change != .none else { return }
        let metadata: Logger.Metadata = ["destination": "\(destination.name)", "event": "\(lease.event)"]
        switch change {
        case .none: break
        case .fails: logger.warning("The destination fails; deliveries wait.", metadata: metadata)
        case .leftAlone:
            logger.warning(
                "The destination fails again and again; one attempt is made now and then until it answers.",
                metadata: metadata)
        case .takesAgain: logger.notice("The destination takes events again.", metadata: metadata)
        }
    }

    /// Each attempt only in detail.
    func report(_ settlement: Settlement) {
        // Nearly all of them, and their words would cost more than their signatures.
        if case .delivered = settlement.outcome, logger.logLevel > .debug { return }
        let lease = settlement.lease
        var metadata: Logger.Metadata = [
            "event": "\(lease.event)", "destination": "\(lease.destination)", "attempt": "\(lease.earlier + 1)",
        ]
        if let reason = settlement.disabling {
            logger.warning(
                "The destination takes nothing any more; its deliveries wait until it is resumed.",
                metadata: ["destination": "\(lease.destination)", "reason": "\(reason)"])
        }
        switch settlement.outcome {
        case .delivered: logger.debug("Delivered.", metadata: metadata)
        case .retry(let at, _, let reason):
            metadata["reason"] = "\(reason)"
            metadata["next"] = "\(Timestamp(at).text)"
            logger.info("Delivery failed; it will be tried again.", metadata: metadata)
        case .postponed(_, let reason):
            metadata["reason"] = "\(reason)"
            // What a destination withholds is said once, by whoever asked it.
            let level: Logger.Level = queue.isWithheld(by: name) ? .info : .error
            logger.log(level: level, "An attempt could not be made.", metadata: metadata)
        case .dead(_, let reason):
            metadata["reason"] = "\(reason)"
            logger.warning("Delivery is dead.", metadata: metadata)
        case .expired: logger.info("Delivery expired before it was sent.", metadata: metadata)
        case .returned: logger.debug("Delivery goes back into the queue.", metadata: metadata)
        }
    }
}
