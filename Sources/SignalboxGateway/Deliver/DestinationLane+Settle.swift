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

    /// Logs the outcomes before it settles them, so that the log has them even after a crash.
    func finish(_ attempts: [AttemptOutcome]) async {
        report(attempts.flatMap(\.settlements))
        await settle(attempts) { await conclude($0) }
    }

    /// After the settlements of these attempts are on disk, or are given up.
    private func conclude(_ attempts: [AttemptOutcome]) async {
        for attempt in attempts where attempt.unrecorded.isEmpty {
            observation?.settled(attempt.settlements, trace: attempt.trace)
        }
        let disablings = attempts.count(where: \.isDisabling)
        // From now on, the queue holds the deliveries back.
        for _ in 0..<disablings {
            _ = disabling.ends()
            gate.reopen()
        }
        // Otherwise no delivery waits for these settlements: the places were free before. The destination may have been
        // resumed while the gate was shut.
        if gate.settled(attempts.count) || isOrdered || disablings > 0 { wake() }
        let answers = attempts.compactMap(\.answer)
        guard !answers.isEmpty else { return }
        await recordBackoff(after: answers)
        await endOthersBreakers()
    }

    /// Settles in one list, and repeats those that failed once a second. Passes attempts to `done` when all of their
    /// settlements are on disk; without that only after ``close()``, a cancellation, or damage to the file when a
    /// reload has replaced the lane.
    func settle(_ attempts: [AttemptOutcome], _ done: ([AttemptOutcome]) async -> Void) async {
        var left = attempts
        while true {
            let results = await queue.settle(left.flatMap(\.unrecorded))
            report(results)
            var ends = results[...]
            for index in left.indices {
                let own = ends.prefix(left[index].unrecorded.count)
                ends = ends.dropFirst(own.count)
                left[index].unrecorded = zip(left[index].unrecorded, own).filter { !isRecorded($0, $1) }.map(\.0)
            }
            let recorded = left.filter(\.unrecorded.isEmpty)
            if !recorded.isEmpty { await done(recorded) }
            left.removeAll(where: \.unrecorded.isEmpty)
            guard !left.isEmpty else { return }
            // Given up when nothing else can follow: the successor of a lane waits for it. The successor, or the next
            // start, repeats the deliveries.
            let isHopeless = gate.isRetired && results.allSatisfy(\.isOfDamage)
            guard !gate.isClosed, !isHopeless, await sleep() else { return await done(left) }
        }
    }

    /// A second; false in a cancelled task.
    private func sleep() async -> Bool {
        do { try await clock.sleep(for: .seconds(1)) } catch { return false }
        return true
    }

    /// Logs once that outcomes cannot be recorded: many fail at the same time.
    private func report(_ results: [Result<SettlementResult, StoreError>]) {
        let errors = results.lazy.compactMap(\.error)
        guard let error = errors.first else {
            if !results.isEmpty { _ = settling.ends() }
            return
        }
        guard settling.begins(by: error) else { return }
        logger.error("Cannot record outcomes; retrying.", metadata: ["destination": "\(name)", "error": "\(error)"])
    }

    /// Whether nothing is left to do for a settlement.
    private func isRecorded(_ settlement: Settlement, _ result: Result<SettlementResult, StoreError>) -> Bool {
        guard case .success(let result) = result else { return false }
        if result == .lost { reportLost(settlement.lease) }
        return true
    }
}

extension Result<SettlementResult, StoreError> {
    fileprivate var error: StoreError? { if case .failure(let error) = self { error } else { nil } }

    /// Whether the settlement failed because the file is damaged.
    fileprivate var isOfDamage: Bool { if case .damaged? = error { true } else { false } }
}
