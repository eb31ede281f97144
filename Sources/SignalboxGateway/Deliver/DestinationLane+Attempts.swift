import Logging
import SignalboxNotification
import SignalboxStore

/// Attempts, from their begin to the outcomes of their deliveries.
extension DestinationLane {
    /// Sends one request, with one delivery unless the format batches. Each delivery of the batch is then settled
    /// exactly once: sent, expired or returned. If the batch was too large, the attempts of its halves do so. `asks`:
    /// after a request for permission, in a child task.
    func start(_ batch: [Lease], asking asks: Bool, _ tasks: inout DiscardingTaskGroup) {
        let begunAt = elapsed()
        func leaveUnsent(_ settlements: [Settlement]) {
            if asks { gate.abandonQuestion() }
            ended.add(EndedAttempt(begunAt: begunAt, unsent: settlements))
        }
        guard mayBegin(batch) else { return leaveUnsent(batch.map { Settlement($0, .returned) }) }
        let now = queue.now
        // The store leases a delivery that has one attempt only for that one.
        func isOver(_ lease: Lease) -> Bool { lease.notAfter?.hasPassed(at: now, attempts: 0) ?? false }
        let live = batch.filter { !isOver($0) }
        let expired = live.count == batch.count ? [] : batch.filter(isOver).map { Settlement($0, .expired) }
        guard !live.isEmpty else { return leaveUnsent(expired) }
        let isLarge = live.count > 1 && live.reduce(0) { $0 + $1.body.count } > Self.largeRequest
        guard asks || isLarge else { return send(live, besides: expired, begunAt) }
        tasks.addTask {
            if asks, let outcome = await outcomeWithoutPermission() {
                let withheld = live.map { Settlement($0, outcome) }
                ended.add(EndedAttempt(begunAt: begunAt, unsent: withheld + expired))
            } else {
                send(live, besides: expired, begunAt)
            }
        }
    }

    /// Bytes of the events of a batch from which its request is written, compressed and signed in a task of its own:
    /// on another core if one is free.
    private static let largeRequest = 64 * 1024

    /// False if the destination was paused or disabled since the claim, a reload has replaced the lane, or another
    /// process has taken over.
    private func mayBegin(_ leases: [Lease]) -> Bool {
        !gate.isShut && queue.isActive(name) && leases.allSatisfy { queue.holds($0) }
    }

    /// `begunAt`: when the attempt took its place, even if it waits for a permission or a token first.
    private func send(_ leases: [Lease], besides expired: [Settlement], _ begunAt: Duration) {
        counters?.inFlight.add(leases.count)
        requests.add()
        sender.send(leases) {
            mayBegin(leases)
        } whenDone: { [counters, requests, ended] result in
            counters?.inFlight.add(-leases.count)
            requests.add(-1)
            ended.add(EndedAttempt(begunAt: begunAt, leases: leases, unsent: expired, result: result))
        }
    }

    /// Takes attempts that have ended until ``EndedAttempts/close()`` has been called and none is in progress. Does not
    /// wait for the store: each list of outcomes has a task of its own.
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
            gate.recordUnsent(begunAt: attempt.begunAt, at: elapsed())
            return AttemptOutcome(attempt.leases.map { Settlement($0, .returned) } + attempt.unsent)
        }
        let now = queue.now
        figures.record(result, at: now, elapsed: elapsed())
        record(result.answer, of: attempt.leases[0], begunAt: attempt.begunAt, now: now)
        let isSplit = attempt.leases.count > 1 && RetryPolicy.isTooLarge(result.answer)
        if isSplit { split(attempt.leases) }
        // One random number for all, so that deliveries that failed together are retried together.
        lazy var random = Double.random(in: 0..<1)
        let settlements = isSplit ? [] : attempt.leases.map { settlement(of: $0, result, now: now, random: random) }
        let outcome = AttemptOutcome(settlements + attempt.unsent, after: result)
        if outcome.isDisabling { gate.shut() }
        return outcome
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
