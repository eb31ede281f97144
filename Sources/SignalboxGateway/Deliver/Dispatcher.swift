import Foundation
package import Logging
import ServiceLifecycle
package import SignalboxConfig
package import SignalboxNotification
package import SignalboxStore

/// Runs a lane for every destination, and the timer that tells them what has become due.
package struct Dispatcher: Service {
    private let roster: LaneRoster
    private let queue: SQLiteQueue
    private let elapsed: @Sendable () -> Duration
    private let deadLetters: Replaceable<DeadLetterEvents?>
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let drainTime: Duration

    /// How often the queue is looked at for what has become due.
    private static let tick: Duration = .milliseconds(200)

    /// `deadLetters`: makes events about deliveries that die; nil makes none. `drainTime`: how long a stop goes on beginning what is due; what is under way is then still waited for.
    package init(
        _ destinations: [(destination: Destination, sender: any Sender)], queue: SQLiteQueue,
        deadLetters: DeadLetterEvents? = nil, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        elapsed: @escaping @Sendable () -> Duration = Dispatcher.sinceStart, drainTime: Duration = .seconds(5)
    ) {
        self.queue = queue
        self.logger = logger
        self.clock = clock
        self.drainTime = drainTime
        self.elapsed = elapsed
        let letters = Replaceable(deadLetters)
        self.deadLetters = letters
        roster = LaneRoster(
            destinations.map {
                DestinationLane(
                    $0.destination, sender: $0.sender, queue: queue, deadLetters: letters, logger: logger,
                    clock: clock, elapsed: elapsed)
            })
    }

    /// Delivers to these destinations from now on. Attempts that are under way end as they began, with the settings that
    /// they began with; destinations that stay as they are, by `isSame` too, notice nothing.
    package func replace(
        _ destinations: [(destination: Destination, sender: any Sender)], deadLetters: DeadLetterEvents?,
        isSame: (_ destination: DestinationName) -> Bool
    ) {
        self.deadLetters.replace(by: deadLetters)
        let lanes = destinations.map {
            DestinationLane(
                $0.destination, sender: $0.sender, queue: queue, deadLetters: self.deadLetters, logger: logger,
                clock: clock, elapsed: elapsed)
        }
        roster.replace(by: lanes) { old, new in old.destination == new.destination && isSame(new.name) }
    }

    /// Runs until a graceful shutdown, then until everything due was tried or `drainTime` has passed.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await runUntilDrained()
        } onGracefulShutdown: {
            drain(within: drainTime)
        }
    }

    /// Runs until ``drain()`` was called and nothing is due any more, or its time is over.
    package func runUntilDrained() async {
        do throws(StoreError) {
            try await queue.forgetBackoffs()
        } catch {
            logger.error("The state of destinations cannot be recorded.", metadata: ["error": "\(error)"])
        }
        await withTaskGroup { group in
            group.addTask { await self.keepTime() }
            await withDiscardingTaskGroup { lanes in
                for await lane in roster.starts {
                    lanes.addTask {
                        await lane.run()
                        roster.ended(lane.name)
                    }
                }
            }
            group.cancelAll()
        }
        do throws(StoreError) {
            try await queue.giveBackFresh()
        } catch {
            logger.error("What was not begun cannot be noted.", metadata: ["error": "\(error)"])
        }
    }

    private static let start = ContinuousClock.now

    package static let sinceStart: @Sendable () -> Duration = { ContinuousClock.now - start }

    /// Lets the lanes end once nothing is due. With a time it is a stop: they end after it at the latest, and do not wait
    /// for what their rates do not allow yet.
    package func drain(within time: Duration? = nil) {
        roster.close()
        for lane in roster.lanes { lane.drain(isStop: time != nil) }
        guard let time else { return }
        // Not structured: a shutdown handler cannot wait. It ends by itself and holds nothing but the lanes.
        Task {
            do { try await clock.sleep(for: time) } catch { return }
            for lane in roster.lanes { lane.close() }
        }
    }

    private func keepTime() async {
        var watchdog = Watchdog()
        var ticks = 0
        let outage = Outage()
        while !Task.isCancelled {
            ticks += 1
            if ticks.isMultiple(of: Watchdog.ticks) { await look(&watchdog) }
            do {
                try await queue.tick()
                if outage.ends() { logger.notice("The queue can be read again.") }
            } catch {
                // Cut short by our own stop.
                if Task.isCancelled { return }
                if outage.begins() { logger.error("The queue cannot be read.", metadata: ["error": "\(error)"]) }
            }
            reportDamage()
            do { try await clock.sleep(for: Self.tick) } catch { return }
        }
    }

    /// Reports damage of the file once, whichever component found it.
    private func reportDamage() {
        guard let damage = queue.fileHealth.takeUnreportedDamage() else { return }
        logger.critical(
            "The queue is damaged; new events are rejected, and readable deliveries are sent.",
            metadata: ["error": "\(damage)"])
    }
}

extension Dispatcher {
    /// Sees lanes that could deliver and do not, says so once, and wakes them.
    private func look(_ watchdog: inout Watchdog) async {
        for lane in roster.lanes {
            guard let reading = watchdog.stuckReading(lane.name, queue.readingNumber(of: lane.name)) else { continue }
            logger.critical(
                "A destination's read of the queue has not ended; its deliveries wait.",
                metadata: ["destination": "\(lane.name)", "reading": "\(reading)"])
        }
        let gauges: [DestinationName: SQLiteQueue.Gauges]
        do {
            gauges = try await queue.gauges()
        } catch {
            if Task.isCancelled { return }
            logger.error("The queue cannot be read.", metadata: ["error": "\(error)"])
            return
        }
        for lane in roster.lanes where !lane.isOrdered {
            let overdue = gauges[lane.name]?.oldestDue.map { Date().timeIntervalSince($0) }
            guard watchdog.isStalled(lane.name, overdue: overdue, isIdle: lane.isIdle) else { continue }
            logger.critical(
                "Deliveries are due and none is made; this is a defect of the gateway.",
                metadata: ["destination": "\(lane.name)", "overdue": "\(Int(overdue ?? 0)) s"])
            queue.lookAgain()
            lane.wake()
        }
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension Dispatcher: CustomStringConvertible {
    package var description: String { "Dispatcher" }
}
