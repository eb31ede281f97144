import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// Brings the deliveries of one destination from the queue to their outcome. Lanes share nothing but the queue and the
/// HTTP client, so one that hangs holds up no other.
struct DestinationLane: Sendable {
    let destination: Destination
    let sender: any Sender
    let queue: SQLiteQueue
    private let deadLetters: Replaceable<DeadLetterEvents?>
    let logger: Logger
    private let clock: any Clock<Duration>
    let elapsed: @Sendable () -> Duration
    let gate: LaneGate
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// `clock` and `elapsed` tell the same time: one is for waiting, the other counts from any start.
    init(
        _ destination: Destination, sender: any Sender, queue: SQLiteQueue, deadLetters: Replaceable<DeadLetterEvents?>,
        logger: Logger, clock: any Clock<Duration>, elapsed: @escaping @Sendable () -> Duration
    ) {
        self.destination = destination
        self.sender = sender
        self.queue = queue
        self.deadLetters = deadLetters
        self.logger = logger
        self.clock = clock
        self.elapsed = elapsed
        gate = LaneGate(
            limit: destination.concurrency,
            breaker: Breaker(failures: destination.breaker.failures, probe: destination.breaker.probe),
            perSecond: destination.perSecond,
            handshake: destination.handshake.map { Handshake(age: $0.age, retry: destination.retry) }, at: elapsed())
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Runs until the lane is drained or closed and all that was begun has ended.
    func run() async {
        queue.openLane(destination.name, isOrdered: destination.ordering != nil) { [signal] in signal.yield() }
        if destination.handshake == nil { await forgetThatItWithheld() }
        var batches = LaneBatches(destination.batch)
        await withDiscardingTaskGroup { timers in
            await withDiscardingTaskGroup { attempts in
                for await _ in signals {
                    // Asked first: what was appended while the queue was being read is for another turn.
                    let isDraining = gate.isDraining
                    let foundAll = await begin(
                        &batches, { batch, asks in attempts.addTask { await attempt(batch, asking: asks) } },
                        wakingAt: { time in timers.addTask { await wake(at: time) } })
                    if gate.isClosed || gate.isRetired || (isDraining && foundAll) { break }
                }
            }
            timers.cancelAll()
        }
        await giveBack(&batches)
        await forgetBackoff()
        if gate.isRetired { await closeLane() }
    }

    var name: DestinationName { destination.name }

    /// Where one holds up those behind it, what is due says little.
    var isOrdered: Bool { destination.ordering != nil }

    /// True when it may begin attempts and none is under way.
    var isIdle: Bool { queue.isActive(destination.name) && gate.isIdle(at: elapsed()) }

    /// Looks at the queue again.
    func wake() { signal.yield() }

    /// Ends the lane once nothing is due; for a stop, also when its rate allows nothing yet.
    func drain(isStop: Bool) {
        gate.drain(isStop: isStop)
        signal.yield()
    }

    /// Ends the lane now, but for what is under way, which is brought to its end: others go on.
    func retire() {
        gate.retire()
        signal.yield()
    }

    var isRetired: Bool { gate.isRetired }

    /// Ends the lane now, but for what is under way.
    func close() {
        gate.close()
        signal.yield()
    }

    /// Begins attempts as long as there are places and deliveries. True when there were more places than deliveries, or
    /// when the destination is to be left alone.
    private func begin(
        _ batches: inout LaneBatches, _ start: ([Lease], _ asks: Bool) -> Void, wakingAt: (Duration) -> Void
    ) async -> Bool {
        guard queue.isActive(destination.name) else {
            await giveBack(&batches)
            return true
        }
        // An operator resumed it.
        if destination.handshake != nil, !queue.isWithheld(by: name) { gate.askAgain() }
        while true {
            let places = gate.takePlaces(at: elapsed())
            switch places {
            case .free(0): return false
            case .free, .question:
                let free = places.count
                let room = batches.room(for: free)
                let leases = room > 0 ? await claim(upTo: room) : []
                let ready = batches.take(leases, upTo: free, at: elapsed(), all: gate.isDraining && leases.isEmpty)
                gate.giveBack(free - ready.count, at: elapsed())
                for batch in ready { start(batch, places == .question) }
                guard leases.isEmpty, ready.isEmpty else { continue }
                guard let due = batches.due else { return true }
                if gate.setTimer(due) { wakingAt(due) }
                return false
            case .later(let wait, let isLong):
                let time = elapsed() + wait
                if gate.setTimer(time) { wakingAt(time) }
                return isLong
            }
        }
    }

    /// What was gathered for a request and is not to be sent now.
    private func giveBack(_ batches: inout LaneBatches) async {
        guard !batches.isEmpty else { return }
        let leases = batches.takeAll()
        await withDiscardingTaskGroup { group in
            for lease in leases { group.addTask { await settle(Settlement(lease, .returned)) } }
        }
    }

    /// Until it is closed nobody may open it again: what is in memory would be nobody's.
    private func closeLane() async {
        let outage = Outage()
        while !gate.isClosed {
            do throws(StoreError) {
                return try await queue.closeLane(destination.name)
            } catch {
                if outage.begins() {
                    logger.error(
                        "A destination's deliveries cannot be returned to the queue; trying again.",
                        metadata: ["destination": "\(destination.name)", "error": "\(error)"])
                }
            }
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
        }
    }

    private func wake(at time: Duration) async {
        do { try await clock.sleep(for: max(.zero, time - elapsed())) } catch { return }
        gate.timerEnded(time)
        signal.yield()
    }

    private func claim(upTo limit: Int) async -> [Lease] {
        do throws(StoreError) {
            let leases = try await queue.claim(from: destination.name, upTo: limit)
            gate.noteClaimed()
            return leases
        } catch {
            // The next tick looks again.
            if gate.noteUnclaimed() {
                logger.error(
                    "The queue cannot be read.",
                    metadata: ["destination": "\(destination.name)", "error": "\(error)"])
            }
            return []
        }
    }

    // MARK: One attempt

    /// One request, of one delivery unless the format batches. `asks`: after asking for permission.
    private func attempt(_ batch: [Lease], asking asks: Bool) async {
        // Claimed before the destination was known to be gone or paused.
        guard !gate.isShut, queue.isActive(destination.name) else {
            if asks { gate.abandonQuestion() }
            return await leave(batch.map { Settlement($0, .returned) })
        }
        let isOver = batch.map { $0.notAfter.map { $0 <= Date() } ?? false }
        let live = zip(batch, isOver).filter { !$1 }.map(\.0)
        let expired = zip(batch, isOver).filter(\.1).map { Settlement($0.0, .expired) }
        guard !live.isEmpty else {
            if asks { gate.abandonQuestion() }
            return await leave(expired)
        }
        if asks, let outcome = await outcomeWithoutPermission() {
            return await leave(live.map { Settlement($0, outcome) } + expired)
        }
        let result = await sender.send(live)
        let now = Date()
        // Before the place is free: what the answer says counts for whoever takes it.
        note(result.answer, of: live[0], now: now)
        let isDisabling = RetryPolicy.disabling(result.answer) != nil
        if isDisabling { gate.shut() }
        gate.sent()
        signal.yield()
        // One number for all, so that what failed together is tried together.
        lazy var random = Double.random(in: 0..<1)
        let settlements = live.map { settlement(of: $0, result, now: now, random: random) }
        await finish(settlements + expired)
        // From here on the queue gives out nothing to it.
        if isDisabling { gate.reopen() }
        await recordBackoff(after: result.answer)
    }

    /// Nothing was sent: gives the place back, and says nothing of the destination.
    private func leave(_ settlements: [Settlement]) async {
        gate.noteNothing(at: elapsed())
        gate.sent()
        signal.yield()
        await finish(settlements)
    }

    private func settlement(
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

    private func finish(_ settlements: [Settlement]) async {
        for settlement in settlements { report(settlement) }
        if settlements.count == 1 {
            await settle(settlements[0])
        } else {
            // At once, so that they share a commit.
            await withDiscardingTaskGroup { group in
                for settlement in settlements { group.addTask { await settle(settlement) } }
            }
        }
        // Otherwise nothing waits for it: whoever was sent has given its place back already.
        if gate.settled() || isOrdered { signal.yield() }
    }

    private func settle(_ settlement: Settlement) async {
        while true {
            do throws(StoreError) {
                try await queue.settle(settlement)
                return gate.noteRecorded()
            } catch {
                // Many outcomes wait at such a time: it is said once.
                if gate.noteUnrecorded() {
                    logger.error(
                        "Outcomes cannot be recorded; trying again.",
                        metadata: ["destination": "\(destination.name)", "error": "\(error)"])
                }
            }
            // Given up only when the gateway stops: the delivery is then repeated after the next start.
            if gate.isClosed { return }
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
        }
    }
}
