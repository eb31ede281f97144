import Foundation
package import Logging
import ServiceLifecycle
package import SignalboxConfig
package import SignalboxNotification
package import SignalboxStore

/// Runs a lane for every destination, and the timer that wakes them when deliveries become due.
///
/// The flow: a ``DestinationLane`` claims due deliveries as its ``LaneGate`` permits, a ``Sender`` makes the
/// attempts, ``RetryPolicy`` decides the outcome, and the queue settles it. ``LaneRoster`` replaces lanes after a
/// reload. One dispatcher runs for each data directory. All lanes share its clock and its timer.
package struct Dispatcher: NamedService {
    private let roster: LaneRoster
    private let queue: any LaneStore
    private let elapsed: @Sendable () -> Duration
    private let deadLetters: Replaceable<DeadLetterEvents?>
    private let observation: Observation?
    private let logger: Logger
    private let clock: any Clock<Duration>
    /// How long a stop starts attempts of due deliveries.
    private let drainTime: Duration

    /// How often the queue is checked for due deliveries.
    private static let tick: Duration = .milliseconds(200)

    /// `deadLetters`: makes events about dead deliveries; nil for none. `observation`: receives attempts. `drainTime`:
    /// how long a stop starts attempts of due deliveries. Attempts in flight are awaited after that. Equal names among
    /// the destinations are a programming error.
    package init(
        _ destinations: [(destination: Destination, sender: any Sender)], queue: any LaneStore,
        deadLetters: DeadLetterEvents? = nil, observation: Observation? = nil, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        elapsed: @escaping @Sendable () -> Duration = Dispatcher.sinceStart, drainTime: Duration = .seconds(5)
    ) {
        self.queue = queue
        self.logger = logger
        self.clock = clock
        self.drainTime = drainTime
        self.elapsed = elapsed
        self.observation = observation
        let letters = Replaceable(deadLetters)
        self.deadLetters = letters
        roster = LaneRoster(
            destinations.map {
                DestinationLane(
                    $0.destination, sender: $0.sender, queue: queue, deadLetters: letters, observation: observation,
                    logger: logger, clock: clock, elapsed: elapsed)
            })
    }

    /// Replaces the destinations. Attempts in flight end with their former settings. Lanes of equal destinations for
    /// which `isSame` holds continue unchanged. New lanes start once their predecessors have ended, and continue their
    /// backoffs if the URL is the same. Starts no lane after a drain began.
    package func replace(
        _ destinations: [(destination: Destination, sender: any Sender)], deadLetters: DeadLetterEvents?,
        isSame: (_ destination: DestinationName) -> Bool
    ) {
        self.deadLetters.replace(by: deadLetters)
        let lanes = destinations.map {
            DestinationLane(
                $0.destination, sender: $0.sender, queue: queue, deadLetters: self.deadLetters,
                observation: observation, logger: logger, clock: clock, elapsed: elapsed)
        }
        roster.replace(by: lanes) { old, new in old.destination == new.destination && isSame(new.name) }
    }

    /// Runs until a graceful shutdown, then until every due delivery has been attempted or `drainTime` has passed.
    /// Never throws. The service group starts its stop; the queue must stay open until it has returned.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await runUntilDrained()
        } onGracefulShutdown: {
            drain(within: drainTime)
        }
    }

    /// Runs until ``drain(within:)`` was called and no delivery is due, or its time is over. Finally records the
    /// deliveries in memory that were never begun.
    package func runUntilDrained() async {
        do throws(StoreError) {
            try await queue.forgetBackoffs()
        } catch {
            // A start that failed elsewhere cancels the writes of all services, and reports its own reason.
            if !Task.isCancelled {
                logger.error("Cannot record the status of destinations.", metadata: ["error": "\(error)"])
            }
        }
        await withTaskGroup { group in
            group.addTask { await self.keepTime() }
            await withDiscardingTaskGroup { lanes in
                for await lane in roster.starts {
                    lanes.addTask {
                        await lane.run()
                        await roster.ended(lane)
                    }
                }
            }
            group.cancelAll()
        }
        do throws(StoreError) {
            try await queue.giveBackFresh()
        } catch {
            logger.error(
                "Cannot return unsent deliveries to the queue; the next start sends them.",
                metadata: ["error": "\(error)"])
        }
    }

    /// The state of every running lane. A lane that a reload replaces is listed until it has ended.
    package func snapshots() -> [DestinationName: LaneSnapshot] {
        Dictionary(roster.lanes.map { ($0.name, $0.snapshot()) }) { first, _ in first }
    }

    private static let start = ContinuousClock.now

    /// Time since the first call: a clock that does not jump.
    package static let sinceStart: @Sendable () -> Duration = { ContinuousClock.now - start }

    /// Ends the lanes once no delivery is due. With a time, it is a stop: lanes end after it at the latest, and do
    /// not wait for rate limits and backoffs. Returns at once; ``runUntilDrained()`` returns when the lanes have
    /// ended. Callable from any thread.
    package func drain(within time: Duration? = nil) {
        roster.close()
        for lane in roster.lanes { lane.drain(isStop: time != nil) }
        guard let time else { return }
        // Unstructured: a shutdown handler cannot wait. The task ends by itself and retains only the lanes.
        Task {
            do { try await clock.sleep(for: time) } catch { return }
            for lane in roster.lanes { lane.close() }
        }
    }

    /// Checks the queue for due deliveries every ``tick`` and runs the watchdog. Logs an outage of the queue once, and
    /// its end.
    private func keepTime() async {
        var watchdog = Watchdog()
        var ticks = 0
        let (outage, checkOutage, difference) = (Outage(), Outage(), Outage())
        while !Task.isCancelled {
            ticks += 1
            if ticks.isMultiple(of: Watchdog.ticks) { await check(&watchdog, checkOutage) }
            do {
                for name in try await queue.tick() {
                    logger.notice("Pause ended.", metadata: ["destination": "\(name)"])
                    observation?.changed(name, to: "active", because: "the pause is over")
                }
                if outage.ends() { logger.notice("Queue readable again.") }
            } catch {
                // The gateway's own stop cancelled the read.
                if Task.isCancelled { return }
                if outage.begins(by: error) { logger.error("Cannot read the queue.", metadata: ["error": "\(error)"]) }
            }
            reportDamage()
            reportConfigs(difference)
            do { try await clock.sleep(for: Self.tick) } catch { return }
        }
    }

    /// Logs once that nodes which share the store have had different configs for long, and once that they are equal.
    private func reportConfigs(_ difference: Outage) {
        if let time = queue.fleet?.configsDifferFor, time >= FleetStatus.configGrace {
            guard difference.begins() else { return }
            logger.warning(
                "Gateways of this store have different configs.", metadata: ["seconds": "\(time.components.seconds)"])
        } else if difference.ends() {
            logger.notice("Gateways of this store have the same config.")
        }
    }

    /// Logs damage of the file once, whichever component found it.
    private func reportDamage() {
        guard let damage = queue.health.takeUnreportedDamage() else { return }
        logger.critical(
            "Queue damaged; rejecting new events, sending readable deliveries.", metadata: ["error": "\(damage)"])
    }
}

extension Dispatcher {
    /// Logs lanes that stopped, once for each stop. Looks for two defects: reads of the queue that hang, and idle lanes
    /// with overdue deliveries; it wakes the latter. `outage`: of the reads for these checks.
    private func check(_ watchdog: inout Watchdog, _ outage: Outage) async {
        for lane in roster.lanes {
            guard let reading = watchdog.stuckReading(lane.name, queue.readingNumber(of: lane.name)) else { continue }
            logger.critical(
                "Queue read of a destination hangs; its deliveries wait.",
                metadata: ["destination": "\(lane.name)", "reading": "\(reading)"])
        }
        let gauges: [DestinationName: DestinationGauges]
        do {
            gauges = try await queue.gauges()
        } catch {
            if Task.isCancelled { return }
            if outage.begins(by: error) { logger.error("Cannot read the queue.", metadata: ["error": "\(error)"]) }
            return
        }
        _ = outage.ends()
        for lane in roster.lanes where !lane.isOrdered {
            let overdue = gauges[lane.name]?.oldestDue.map { queue.now.timeIntervalSince($0) }
            guard watchdog.isStalled(lane.name, overdue: overdue, isIdle: lane.isIdle) else { continue }
            logger.critical(
                "Bug: deliveries are overdue but none was attempted.",
                metadata: ["destination": "\(lane.name)", "overdue": "\(Int(overdue ?? 0)) s"])
            queue.wakeAll()
            lane.wake()
        }
    }
}
