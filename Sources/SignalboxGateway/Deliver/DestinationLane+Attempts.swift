import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// Attempts, from their begin to the outcomes of their deliveries.
extension DestinationLane {
    /// Sends one request, with one delivery unless the format batches. Each delivery of the batch is then settled
    /// exactly once: sent, expired or returned. If the batch was too large, the attempts of its halves do so. `asks`:
    /// after a request for permission, in a child task.
    func start(_ batch: [Lease], asking asks: Bool, _ tasks: inout DiscardingTaskGroup) {
        // The destination may have been paused since the claim, and another process may have taken over.
        guard !gate.isShut, queue.isActive(name), batch.allSatisfy({ queue.holds($0) }) else {
            if asks { gate.abandonQuestion() }
            return ended.add(EndedAttempt(unsent: batch.map { Settlement($0, .returned) }))
        }
        let now = queue.now
        // The store leases a delivery that has one attempt only for that one.
        func isOver(_ lease: Lease) -> Bool { lease.notAfter?.hasPassed(at: now, attempts: 0) ?? false }
        let live = batch.filter { !isOver($0) }
        let expired = live.count == batch.count ? [] : batch.filter(isOver).map { Settlement($0, .expired) }
        guard !live.isEmpty else {
            if asks { gate.abandonQuestion() }
            return ended.add(EndedAttempt(unsent: expired))
        }
        guard asks else { return send(live, besides: expired) }
        tasks.addTask {
            if let outcome = await outcomeWithoutPermission() {
                ended.add(EndedAttempt(unsent: live.map { Settlement($0, outcome) } + expired))
            } else {
                send(live, besides: expired)
            }
        }
    }

    private func send(_ leases: [Lease], besides expired: [Settlement]) {
        counters?.inFlight.add(leases.count)
        sender.send(leases) { [queue] in
            leases.allSatisfy { queue.holds($0) }
        } whenDone: { [counters, ended] result in
            counters?.inFlight.add(-leases.count)
            ended.add(EndedAttempt(leases: leases, unsent: expired, result: result))
        }
    }

    /// Takes attempts that have ended until ``EndedAttempts/close()`` was called and none is in progress. Does not wait
    /// for the store: each list of outcomes has a task of its own.
    func takeEnded() async {
        await withDiscardingTaskGroup { lists in
            repeat {
                let outcomes = await ended.takeAll().map { attempt in
                    defer { gate.sent() }
                    return outcome(of: attempt)
                }
                guard !outcomes.isEmpty else { continue }
                wake()
                lists.addTask { await finish(outcomes) }
            } while !ended.isClosed || gate.isSending
        }
    }

    /// Tells the gate and the breaker how an attempt ended, or that the destination was not asked. Called before its
    /// place is free: the answer must influence the attempt that takes it.
    private func outcome(of attempt: EndedAttempt) -> AttemptOutcome {
        guard let result = attempt.result?() else {
            gate.recordNoAttempt(at: elapsed())
            return AttemptOutcome(attempt.leases.map { Settlement($0, .returned) } + attempt.unsent)
        }
        let now = queue.now
        figures.record(result, at: now, elapsed: elapsed())
        record(result.answer, of: attempt.leases[0], now: now)
        let isDisabling = RetryPolicy.disabling(result.answer) != nil
        if isDisabling { gate.shut() }
        let isSplit = attempt.leases.count > 1 && RetryPolicy.isTooLarge(result.answer)
        if isSplit { split(attempt.leases) }
        // One random number for all, so that deliveries that failed together are retried together.
        lazy var random = Double.random(in: 0..<1)
        let settlements = isSplit ? [] : attempt.leases.map { settlement(of: $0, result, now: now, random: random) }
        return AttemptOutcome(settlements + attempt.unsent, after: result)
    }

    /// Lets the lane send the halves of a batch as requests of their own, within its limits. Only an event that is too
    /// large by itself becomes a dead letter.
    private func split(_ batch: [Lease]) {
        halves.add(halvesOf: batch)
        guard splitting.begins() else { return }
        logger.warning(
            "Batch too large for the destination; sending its halves.",
            metadata: ["destination": "\(name)", "events": "\(batch.count)"])
    }
}
