import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxStore

/// Asking a destination whether it may be sent to.
extension DestinationLane {
    /// Asks, and tells the gate. Nil when permission was given; else what becomes of the deliveries that were to be sent.
    func outcomeWithoutPermission() async -> Outcome? {
        let permission = await sender.askPermission()
        switch permission {
        case .unknown:
            gate.abandonQuestion()
            return .returned
        case .withheld(let reason, let retryAfter):
            await noteThatItWithholds(reason)
            let now = Date()
            let asked = min(retryAfter?.delay(from: now) ?? 0, RetryPolicy.longestRetryAfter)
            gate.noteWithheld(at: elapsed(), asked: .seconds(asked))
            // It stays the first in line; the gate says when it is asked again.
            return .postponed(until: now, reason: reason)
        case .given(let perMinute):
            gate.noteGiven(perMinute: perMinute, at: elapsed())
            if queue.isWithheld(by: name) {
                logger.notice("The destination permits deliveries.", metadata: ["destination": "\(name)"])
                await forgetThatItWithheld()
            }
            // There may be more places now.
            wake()
            return nil
        }
    }

    private func noteThatItWithholds(_ reason: String) async {
        if !queue.isWithheld(by: name) {
            logger.warning(
                "The destination does not permit deliveries; they wait, and it is asked again.",
                metadata: ["destination": "\(name)", "reason": "\(reason)"])
        }
        do throws(StoreError) {
            try await queue.withhold(reason, by: name)
        } catch {
            cannotNote(error)
        }
    }

    /// Also of an earlier process.
    func forgetThatItWithheld() async {
        guard queue.isWithheld(by: name) else { return }
        do throws(StoreError) {
            try await queue.permit(by: name)
        } catch {
            cannotNote(error)
        }
    }

    private func cannotNote(_ error: StoreError) {
        logger.error(
            "What the destination permits cannot be noted.",
            metadata: ["destination": "\(name)", "error": "\(error)"])
    }
}

extension LaneGate.Places {
    /// How many were taken with this answer.
    var count: Int {
        switch self {
        case .free(let count): count
        case .question: 1
        case .later: 0
        }
    }
}
