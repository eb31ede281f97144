import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// Delivers the events of one destination. Lanes share only the queue and the HTTP clients, so a destination that
/// hangs does not delay the others. A value whose copies share the gate and the wake-up. The dispatcher runs it on
/// one task, which claims and starts attempts. A child task takes those that have ended, and gives each list of
/// outcomes to a task of its own.
struct DestinationLane: Sendable {
    /// The destination's options under the config that started the lane.
    let destination: Destination
    /// Sends batches; shared with the plan.
    let sender: any Sender
    /// Shared by all lanes.
    let queue: any LaneStore
    /// Nil without routes for such events.
    let deadLetters: Replaceable<DeadLetterEvents?>
    /// Receives attempts and changes of the destination.
    let observation: Observation?
    /// Of this destination; nil without an observation.
    let counters: DestinationCounters?
    let logger: Logger
    /// Sleeps; a manual one in tests.
    let clock: any Clock<Duration>
    /// The time of the gate, the breaker and the batches.
    let elapsed: @Sendable () -> Duration
    /// Shared by all copies of the lane.
    let gate: LaneGate
    /// Durations and ends of its attempts.
    let figures = LaneFigures()
    /// Batches that were too large.
    let halves = BatchHalves()
    /// Attempts whose places are to be freed.
    let ended = EndedAttempts()
    /// Requests in progress. The gate also counts places of a claim that has not returned.
    let requests = Counter()
    /// Ends the sleep of ``run()``.
    private let wakeUp = WakeUp()
    /// Whether settlements fail at present, so that an outage is logged once.
    let settling = Outage()
    /// Whether attempts are postponed at present for want of descriptors.
    let postponing = Outage()
    /// Whether a batch was split, so that it is logged once.
    let splitting = Outage()
    /// Whether a settlement that disables the destination is not on disk yet. Other requests may end meanwhile.
    let disabling = Outage()

    /// `clock` and `elapsed` show the same time: `clock` sleeps, `elapsed` is measured from any start. `deadLetters`:
    /// read at every settlement, so that a reload takes effect at once.
    init(
        _ destination: Destination, sender: any Sender, queue: any LaneStore,
        deadLetters: Replaceable<DeadLetterEvents?>, observation: Observation?,
        logger: Logger, clock: any Clock<Duration>, elapsed: @escaping @Sendable () -> Duration
    ) {
        self.destination = destination
        self.sender = sender
        self.queue = queue
        self.deadLetters = deadLetters
        self.observation = observation
        counters = observation?.counters.destinations.series(for: destination.name)
        self.logger = logger
        self.clock = clock
        self.elapsed = elapsed
        gate = LaneGate(
            limit: destination.concurrency,
            breaker: Breaker(failures: destination.breaker.failures, probe: destination.breaker.probe),
            perSecond: destination.perSecond,
            handshake: destination.handshake.map { Handshake(age: $0.age, retry: destination.retry) },
            isShared: queue.sharesLimits, at: elapsed())
    }

    /// Runs until the lane is drained, retired or closed and every attempt has ended. Returns after it has given back
    /// all collected deliveries. A retired lane also closes itself in the queue; a lane that was drained or closed
    /// leaves that to the dispatcher.
    func run() async {
        queue.openLane(name, isOrdered: isOrdered) { [wakeUp] in wakeUp.wake() }
        if destination.handshake == nil { await forgetWithheld() }
        var batches = LaneBatches(destination.batch)
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await takeEnded() }
            var pause: Duration?
            while await wakeUp.wait(atMost: pause, by: clock) {
                // Read before the queue: deliveries appended during the read wake the lane again.
                let isDraining = gate.isDraining
                // Read before and after, because the end of an attempt makes the next delivery of its order key due.
                let mayHaveHadSuccessors = mayHaveSuccessors
                let next = await begin(&batches, &tasks)
                let mayFollow = mayHaveHadSuccessors || mayHaveSuccessors || mayHaveHalves
                let isExhausted = next.isExhausted && !mayFollow
                if gate.isClosed || gate.isRetired || (isDraining && isExhausted) { break }
                pause = next.wake.map { max(.zero, $0 - elapsed()) }
            }
            ended.close()
        }
        await giveBack(&batches)
        await returnUnused()
        if gate.isRetired { await closeLane() }
    }

    /// The name is the key of the lane in the roster and in the queue.
    var name: DestinationName { destination.name }

    /// Continues the backoff of a lane that has ended, if that one had the same receiver. False otherwise: the caller
    /// then removes the record of the former backoff. Call it before ``run()``.
    func follow(_ former: DestinationLane) -> Bool {
        guard sender.url == former.sender.url else { return false }
        let isSamePermission =
            destination.handshake == former.destination.handshake
            && destination.perSecond == former.destination.perSecond
        gate.follow(former.gate, withPermission: isSamePermission, at: elapsed())
        return true
    }

    /// Makes the lane read the queue. Callable from any thread; several calls before a pass cause one pass.
    func wake() { wakeUp.wake() }

    /// Ends the lane once no delivery is due. `isStop`: do not wait for rate limits and backoffs. Deliveries that
    /// become due later stay in the queue. Callable from any thread.
    func drain(isStop: Bool) {
        gate.drain(isStop: isStop)
        wake()
    }

    /// Ends the lane because the config changed. Attempts in flight continue to their end; no other begins. Its
    /// successor starts when it has ended, so a destination never has two lanes at work.
    func retire() {
        gate.retire()
        wake()
    }

    /// Ends the lane for a stop. Attempts in flight continue, but outcomes that cannot be recorded are given up.
    /// Deliveries whose outcome is given up are repeated after the next start.
    func close() {
        gate.close()
        wake()
    }

    /// Whether a batch in flight may still be too large. Its halves are added before its place is free.
    private var mayHaveHalves: Bool { destination.batch != nil && (gate.isSending || !halves.isEmpty) }

    /// Whether the end of an attempt may make another delivery due, which a drain still sends. A stop does not wait.
    private var mayHaveSuccessors: Bool { isOrdered && gate.hasUnsettled && !gate.isStopping }

    /// The result of one pass over the queue.
    private struct Pass {
        /// True if no delivery is due, or the destination must not receive attempts for a longer time.
        var isExhausted = false
        /// When the next attempt may start without a signal; nil for never.
        var wake: Duration?
    }

    /// Starts attempts while the gate permits and deliveries are due. Returns when no place is free, no delivery is
    /// due, or the gate asks for a pause.
    private func begin(_ batches: inout LaneBatches, _ tasks: inout DiscardingTaskGroup) async -> Pass {
        guard queue.isActive(name) else {
            await giveBack(&batches)
            return Pass(isExhausted: true)
        }
        if gate.isShared { followOthers() }
        // An operator resumed the destination: end its backoff, and request permission at once.
        if queue.takeResumed(name) { gate.resume(at: elapsed()) }
        if destination.handshake != nil, !queue.isWithheld(by: name) { gate.askAgain() }
        while true {
            batches.insert(halves.takeAll())
            // Not known yet: the queue wakes the lane once it is.
            guard let share = queue.places(of: name, outOf: destination.concurrency) else { return Pass() }
            let places = gate.takePlaces(at: elapsed(), outOf: share)
            switch places {
            case .needsAttempts(let perSecond): await takeAttempts(perSecond)
            case .needsProbe: await askForProbe()
            case .free(0):
                guard share == 0 else { return Pass() }
                // Other processes send what is due, including what was collected here: a drain does not wait for it.
                await giveBack(&batches)
                return Pass(isExhausted: true)
            case .free, .question:
                let free = places.count
                let room = batches.room(for: free)
                let leases = room > 0 ? await claim(upTo: room) : []
                let all = gate.isDraining && leases.isEmpty
                let ready = batches.take(leases, upTo: free, at: elapsed(), wallClock: queue.now, all: all)
                gate.giveBack(free - ready.count, at: elapsed())
                for (position, batch) in ready.enumerated() {
                    start(batch, asking: places == .question, &tasks)
                    // Small requests are written and signed here; other tasks take turns.
                    if position % 32 == 31 { await Task.yield() }
                }
                guard leases.isEmpty, ready.isEmpty else { continue }
                await returnUnused()
                return Pass(isExhausted: batches.due == nil && !queue.mayHaveMore(of: name), wake: batches.due)
            case .later(let wait, let isLong): return Pass(isExhausted: isLong, wake: elapsed() + wait)
            }
        }
    }

    /// Returns deliveries that were collected for a request and not sent. Their attempts are not counted, and they
    /// are due at once for the next claim.
    private func giveBack(_ batches: inout LaneBatches) async {
        batches.insert(halves.takeAll())
        guard !batches.isEmpty else { return }
        await settle([AttemptOutcome(batches.takeAll().map { Settlement($0, .returned) })]) { _ in }
    }

    /// Retries until the queue has closed the lane: deliveries that it holds in memory would otherwise be lost to its
    /// successor. Logs the first failure only and retries once a second, until the gateway stops.
    private func closeLane() async {
        let outage = Outage()
        while !gate.isClosed {
            do throws(StoreError) {
                return try await queue.closeLane(name)
            } catch {
                if outage.begins(by: error) {
                    logger.error(
                        "Cannot return deliveries of a destination to the queue; retrying.",
                        metadata: ["destination": "\(name)", "error": "\(error)"])
                }
            }
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
        }
    }

    /// Returns no deliveries after an error, which it logs once for a row of failures.
    private func claim(upTo limit: Int) async -> [Lease] {
        do throws(StoreError) {
            let leases = try await queue.claim(from: name, upTo: limit)
            gate.recordClaim()
            return leases
        } catch {
            // The dispatcher's next tick wakes the lane.
            if gate.recordFailedClaim(), !error.isUnreachable {
                logger.error("Cannot read the queue.", metadata: ["destination": "\(name)", "error": "\(error)"])
            }
            return []
        }
    }
}
