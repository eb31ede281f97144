package import Foundation
package import Logging
import ServiceLifecycle
package import SignalboxConfig
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxStore

/// Downloads the files that deliveries wait for, and lets those deliveries go whose files are there or whose time is over.
///
/// What is to be downloaded stands in the queue; here is only what is under way. So nothing is lost with the process, and
/// a long list takes no memory.
package struct MediaService: Service {
    /// What the config says of downloads, and what it is said with.
    package struct Setup: Sendable {
        fileprivate let settings: GatewayConfig.Media
        fileprivate let href: @Sendable (MediaFile) -> String
        fileprivate let shape: @Sendable (_ event: [UInt8], _ route: String, _ parser: JSONParser) -> [UInt8]
        fileprivate let download: @Sendable (MediaJob) async -> MediaOutcome

        /// `href`: where receivers fetch a file. `shape`: what a route makes of an event that has its media. `download`:
        /// fetches a file and keeps it.
        package init(
            settings: GatewayConfig.Media, href: @escaping @Sendable (MediaFile) -> String,
            shape: @escaping @Sendable (_ event: [UInt8], _ route: String, _ parser: JSONParser) -> [UInt8],
            download: @escaping @Sendable (MediaJob) async -> MediaOutcome
        ) {
            self.settings = settings
            self.href = href
            self.shape = shape
            self.download = download
        }
    }

    private let queue: SQLiteQueue
    private let setup: Replaceable<Setup>
    private let room: MediaRoom
    private let cancel: @Sendable () -> Void
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let gate = MediaGate()
    private let wakeUp = WakeUp()
    private let outage = Outage()

    /// It never sleeps shorter or longer while something has a time at which it comes: a wall clock that is corrected in
    /// small steps shall make nothing late by much.
    private static let sleep: ClosedRange<Duration> = .milliseconds(10)...(.seconds(30))
    /// After a failure of the queue.
    private static let pause: Duration = .seconds(1)
    /// How long an older file counts before its server is asked again, in seconds.
    private static let stale: TimeInterval = 600
    /// Deliveries let go by one transaction.
    private static let step = 256

    /// `room`: is told of every file, and while it is full nothing is begun. `cancel`: ends every download that is under
    /// way, whatever setup it began under. `clock` and `now` tell the same time, and `now` is the queue's.
    package init(
        _ queue: SQLiteQueue, _ setup: Setup, room: MediaRoom = MediaRoom(limit: { .max }),
        cancel: @escaping @Sendable () -> Void = {}, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.queue = queue
        self.setup = Replaceable(setup)
        self.room = room
        self.cancel = cancel
        self.logger = logger
        self.clock = clock
        self.now = now
        room.whenFree { [wakeUp] in wakeUp.wake() }
    }

    /// Goes by another setup from now on. Downloads that are under way end as they began.
    package func replace(by setup: Setup) {
        self.setup.replace(by: setup)
        wakeUp.wake()
    }

    /// Runs until a graceful shutdown. What is not downloaded by then is begun again by the next process.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await runUntilDrained()
        } onGracefulShutdown: {
            stop()
        }
    }

    /// To be called before deliveries begin: those whose time ended while nobody was there are held until they can be let
    /// go with what is there.
    package func open() async throws(StoreError) {
        try await queue.openMedia { [wakeUp] in wakeUp.wake() }
    }

    /// Runs until ``drain()`` was called and no delivery waits for a file any more, or ``stop()`` was.
    package func runUntilDrained() async {
        let parser = JSONParser.forEvents()
        await withDiscardingTaskGroup { downloads in
            var time: Duration?
            while await wakeUp.wait(atMost: time, by: clock), !gate.isStopping {
                // Asked before the look: what comes between the two has its own wake-up.
                let isDraining = gate.isDraining
                let look = await look(with: parser) { job in downloads.addTask { await self.carryOut(job) } }
                if gate.isStopping || (isDraining && look.isIdle) { break }
                time = look.next.map { pause(until: $0) }
            }
        }
    }

    /// Lets it end once no delivery waits for a file.
    package func drain() {
        gate.drain()
        wakeUp.wake()
    }

    /// Ends it now. Downloads that are under way are cut short, and count as never begun.
    package func stop() {
        gate.stop()
        cancel()
        wakeUp.wake()
    }

    private func pause(until date: Date) -> Duration {
        // As the queue counts: milliseconds, those of now rounded down.
        let time = (date.timeIntervalSince1970 * 1000).rounded() - (now().timeIntervalSince1970 * 1000).rounded(.down)
        return min(max(.milliseconds(time), Self.sleep.lowerBound), Self.sleep.upperBound)
    }

    // MARK: One look

    /// What a look at the queue found.
    private struct Look {
        /// Whether no delivery waits for a file.
        var isIdle = false
        /// When the next thing comes of which no wake-up tells; nil for never.
        var next: Date?
    }

    /// Lets go what can go and begins what there are places for.
    private func look(with parser: JSONParser, _ begin: (MediaJob) -> Void) async -> Look {
        do throws(StoreError) {
            try await release(with: parser)
            let hasPlaces = try await beginDue(begin)
            let until = try await queue.nextMediaUntil()
            // Without a place to begin it at, nothing comes of a time: the end of a download wakes.
            let due = hasPlaces ? try await queue.nextMediaDue() : nil
            if outage.ends() { logger.notice("The queue of downloads can be read again.") }
            return Look(isIdle: until == nil, next: [until, due].compactMap(\.self).min())
        } catch {
            // Cut short by our own stop.
            if Task.isCancelled || gate.isStopping { return Look() }
            if outage.begins() {
                logger.error("The queue of downloads cannot be read.", metadata: ["error": "\(error)"])
            }
            do { try await clock.sleep(for: Self.pause) } catch { return Look() }
            return Look(next: now())
        }
    }

    private func release(with parser: JSONParser) async throws(StoreError) {
        let setup = setup.value
        while !gate.isStopping {
            let held = try await queue.heldDeliveries(upTo: Self.step)
            // Fewer than a step may be all that has room in memory at once.
            if held.isEmpty { return }
            try await queue.release(held.map { Self.released($0, by: setup, parser) })
        }
    }

    /// True when there are places left.
    private func beginDue(_ begin: (MediaJob) -> Void) async throws(StoreError) -> Bool {
        let settings = setup.value.settings
        let places = gate.places(of: settings.concurrency)
        guard places.free > 0, !room.isFull else { return false }
        let jobs = try await queue.dueMedia(
            upTo: places.free, perHost: settings.perHost, busy: places.busy, excluding: places.running)
        for job in jobs {
            gate.begin(job)
            begin(job)
        }
        return jobs.count < places.free
    }

    private static func released(_ held: HeldDelivery, by setup: Setup, _ parser: JSONParser) -> MediaRelease {
        let media = EventMedia(states: held.media, href: setup.href)
        defer { parser.reset() }
        // Of our own writing: what cannot be read was let in by a gateway that took larger events. It goes as it is.
        guard let event = try? parser.parse(held.body) else { return MediaRelease(held, body: nil, files: []) }
        let filled = media.filled(event)
        let body = held.shape.map { setup.shape(filled, $0, parser) } ?? filled
        return MediaRelease(held, body: body, files: media.files)
    }

    // MARK: One download

    private func carryOut(_ job: MediaJob) async {
        let setup = setup.value
        let outcome = await setup.download(job)
        defer {
            gate.end(job)
            wakeUp.wake()
        }
        // Cut short by our own stop: it counts as never begun.
        if case .interrupted = outcome, gate.isStopping { return }
        let settlement = settlement(of: job, outcome, by: setup.settings.retry)
        note(settlement, job)
        let failure = Outage()
        while !gate.isStopping {
            do throws(StoreError) {
                try await queue.settle(media: settlement)
                if case .stored(let file, _, _) = outcome { room.add(file.bytes) }
                return
            } catch {
                if failure.begins() {
                    logger.error("The result of a download cannot be recorded.", metadata: ["error": "\(error)"])
                }
            }
            // It keeps its place: begun again it would fare no better.
            do { try await clock.sleep(for: Self.pause) } catch { return }
        }
    }

    private func settlement(
        of job: MediaJob, _ outcome: MediaOutcome, by retry: Destination.Retry
    ) -> MediaSettlement {
        MediaSettlement(
            job.id,
            Self.end(
                of: outcome, number: job.attempts + 1, by: retry, now: now(), random: Double.random(in: 0..<1)))
    }

    /// What an outcome means for a download. `number`: of this attempt, from 1. `random`: in 0..<1.
    package static func end(
        of outcome: MediaOutcome, number: Int, by retry: Destination.Retry, now: Date, random: Double
    ) -> MediaSettlement.End {
        switch outcome {
        case .stored(let file, let freshness, let remarks): return .stored(file, freshness, remarks: remarks)
        case .unchanged(let freshness): return .unchanged(freshness)
        case .failed(let failure): return .failed(failure)
        case .interrupted(let failure, let after):
            // A server that is down shall not cost an event its picture that is here.
            guard number < retry.attempts else {
                return .keptStale(failure, until: now.addingTimeInterval(Self.stale))
            }
            // As with deliveries: on top of what was asked for, at random.
            let asked = min(after.map { $0 / .seconds(1) } ?? 0, RetryPolicy.longestRetryAfter)
            let wait = asked + RetryPolicy(retry).backoff(number) * random
            return .retry(at: now.addingTimeInterval(wait), failure)
        }
    }

    /// URLs may hold secrets: their hosts are all that is logged.
    private func note(_ settlement: MediaSettlement, _ job: MediaJob) {
        let failure: MediaFailure
        switch settlement.end {
        case .failed(let why), .keptStale(let why, _), .retry(_, let why): failure = why
        case .stored, .unchanged: return
        }
        logger.info(
            "A file was not downloaded.",
            metadata: ["host": "\(job.host)", "reason": "\(failure.code.rawValue)", "attempt": "\(job.attempts + 1)"])
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension MediaService: CustomStringConvertible {
    package var description: String { "MediaService" }
}
