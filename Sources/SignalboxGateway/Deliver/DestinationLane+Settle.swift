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
    func finish(_ attempts: [AttemptOutcome]) async {
        report(attempts.flatMap(\.settlements))
        await settle(attempts) { await conclude($0) }
    }

    /// After the settlements of these attempts are on disk.
    private func conclude(_ attempts: [AttemptOutcome]) async {
        for attempt in attempts { observation?.settled(attempt.settlements, trace: attempt.trace) }
        // Otherwise no delivery waits for these settlements: the places were free before.
        if gate.settled(attempts.count) || isOrdered { wake() }
        // From now on, the queue holds the deliveries back.
        for attempt in attempts where attempt.isDisabling {
            _ = disabling.ends()
            gate.reopen()
        }
        let answers = attempts.compactMap(\.answer)
        guard !answers.isEmpty else { return }
        await recordBackoff(after: answers)
        await endOthersBreakers()
    }

    /// Settles in one list, and repeats those that failed once a second. Passes attempts to `done` when all of their
    /// settlements are on disk; without that only after ``close()`` or a cancellation.
    func settle(_ attempts: [AttemptOutcome], _ done: ([AttemptOutcome]) async -> Void) async {
        var left = attempts
        while true {
            var results = await queue.settle(left.flatMap(\.unrecorded))[...]
            for index in left.indices {
                let ends = results.prefix(left[index].unrecorded.count)
                results = results.dropFirst(ends.count)
                left[index].unrecorded = zip(left[index].unrecorded, ends).filter { !isRecorded($0, $1) }.map(\.0)
            }
            let recorded = left.filter(\.unrecorded.isEmpty)
            if !recorded.isEmpty { await done(recorded) }
            left.removeAll(where: \.unrecorded.isEmpty)
            guard !left.isEmpty else { return }
            // Given up during a stop only: the next start repeats the deliveries.
            guard !gate.isClosed, await sleep() else { return await done(left) }
        }
    }

    /// A second; false in a cancelled task.
    private func sleep() async -> Bool {
        do { try await clock.sleep(for: .seconds(1)) } catch { return false }
        return true
    }

    /// Whether nothing is left to do for a settlement. Logs what the operator must know.
    private func isRecorded(_ settlement: Settlement, _ result: Result<SettlementResult, StoreError>) -> Bool {
        switch result {
        case .success(let result):
            if result == .lost { reportLost(settlement.lease) }
            _ = settling.ends()
            return true
        case .failure(let error):
            // Logged once: many settlements fail at the same time.
            if settling.begins(by: error) {
                logger.error(
                    "Cannot record outcomes; retrying.", metadata: ["destination": "\(name)", "error": "\(error)"])
            }
            return false
        }
    }
}
