import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// Records how attempts ended.
extension DestinationLane {
    /// `random` is evaluated for retries only. A dead delivery brings its dead-letter event along as the successor.
    func settlement(
        of lease: Lease, _ result: SendResult, now: Date, random: @autoclosure () -> Double
    ) -> Settlement {
        let outcome = RetryPolicy(destination.retry).outcome(
            of: result.answer, number: lease.attempts + 1, now: now, random: random())
        var settlement = Settlement(
            lease, outcome, attempt: result.attempt, disabling: RetryPolicy.disabling(result.answer))
        if case .dead(let status, let reason) = outcome {
            settlement.successor = deadLetters.value?.event(about: lease, status: status, reason: reason, at: now)
        }
        return settlement
    }

    /// Logs the outcomes before it settles them, so that the log has them also after a crash.
    /// `trace`: of the attempt if it is exported.
    func finish(_ settlements: [Settlement], trace: TraceContext? = nil) async {
        let disables = report(settlements)
        await settle(settlements)
        if disables { _ = disabling.ends() }
        observation?.settled(settlements, trace: trace)
        // Otherwise no delivery waits for this settlement: `sent` has freed the place before.
        if gate.settled() || isOrdered { wake() }
    }

    /// Settles concurrently, so that the settlements share a commit.
    func settle(_ settlements: [Settlement]) async {
        guard settlements.count != 1 else { return await settle(settlements[0]) }
        await withDiscardingTaskGroup { group in
            for settlement in settlements { group.addTask { await settle(settlement) } }
        }
    }

    /// Retries once a second until the settlement is on disk. Returns without it only after ``close()`` or a
    /// cancellation.
    private func settle(_ settlement: Settlement) async {
        while true {
            do throws(StoreError) {
                if try await queue.settle(settlement) == .lost { reportLost(settlement.lease) }
                _ = settling.ends()
                return
            } catch {
                // Logged once: many settlements fail at the same time.
                if settling.begins(by: error) {
                    logger.error(
                        "Cannot record outcomes; retrying.", metadata: ["destination": "\(name)", "error": "\(error)"])
                }
            }
            // Given up during a stop only: the next start repeats the delivery.
            if gate.isClosed { return }
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
        }
    }
}
