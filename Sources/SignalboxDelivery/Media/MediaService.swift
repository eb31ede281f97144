package import Foundation
package import Logging
import ServiceLifecycle
package import SignalboxJSON
import SignalboxMedia
package import SignalboxModel
package import SignalboxRouting
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
        fileprivate let cancel: @Sendable () -> Void
        fileprivate let download: @Sendable (MediaJob) async -> MediaOutcome

        /// `href`: where receivers fetch a file. `shape`: what a route makes of an event that has its media. `cancel`: ends
        /// every download that is under way. `download`: fetches a file and keeps it.
        package init(
            settings: GatewayConfig.Media, href: @escaping @Sendable (MediaFile) -> String,
            shape: @escaping @Sendable (_ event: [UInt8], _ route: String, _ parser: JSONParser) -> [UInt8],
            cancel: @escaping @Sendable () -> Void, download: @escaping @Sendable (MediaJob) async -> MediaOutcome
        ) {
            self.settings = settings
            self.href = href
            self.shape = shape
            self.cancel = cancel
            self.download = download
        }
    }

    private let queue: SQLiteQueue
    private let setup: Current<Setup>
    /// What ends downloads that began under an earlier setup.
    private let former = Current<[@Sendable () -> Void]>([])
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let gate = MediaGate()
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// How often it is looked for downloads and deliveries whose time has come.
    private static let tick: Duration = .milliseconds(200)
    /// After a failure of the queue.
    private static let pause: Duration = .seconds(1)
    /// How long an older file counts before its server is asked again, in seconds.
    private static let stale: TimeInterval = 600
    /// Deliveries let go by one transaction.
    private static let step = 256

    /// `clock` and `now` tell the same time.
    package init(
        _ queue: SQLiteQueue, _ setup: Setup, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.queue = queue
        self.setup = Current(setup)
        self.logger = logger
        self.clock = clock
        self.now = now
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Goes by another setup from now on. Downloads that are under way end as they began.
    package func replace(by setup: Setup) {
        former.replace(by: former.value + [self.setup.value.cancel])
        self.setup.replace(by: setup)
        signal.yield()
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
        try await queue.openMedia { [signal] in signal.yield() }
    }

    /// Runs until ``drain()`` was called and no delivery waits for a file any more, or ``stop()`` was.
    package func runUntilDrained() async {
        await withTaskGroup { timers in
            timers.addTask { await self.keepTime() }
            await withDiscardingTaskGroup { downloads in
                for await _ in signals {
                    let isDraining = gate.isDraining
                    let isDone = await look { job in downloads.addTask { await self.carryOut(job) } }
                    if gate.isStopping || (isDraining && isDone) { break }
                }
            }
            timers.cancelAll()
        }
    }

    /// Lets it end once no delivery waits for a file.
    package func drain() {
        gate.drain()
        signal.yield()
    }

    /// Ends it now. Downloads that are under way are cut short, and count as never begun.
    package func stop() {
        gate.stop()
        for cancel in former.value + [setup.value.cancel] { cancel() }
        signal.yield()
    }

    private func keepTime() async {
        while !Task.isCancelled {
            do { try await clock.sleep(for: Self.tick) } catch { return }
            signal.yield()
        }
    }

    // MARK: One look

    /// Lets go what can go and begins what there are places for. True when no delivery waits for a file.
    private func look(_ begin: (MediaJob) -> Void) async -> Bool {
        do throws(StoreError) {
            try await release()
            let settings = setup.value.settings
            let places = gate.places(of: settings.concurrency)
            if places.free > 0 {
                let jobs = try await queue.dueMedia(
                    upTo: places.free, perHost: settings.perHost, busy: places.busy, excluding: places.running)
                for job in jobs {
                    gate.begin(job)
                    begin(job)
                }
            }
            return try await queue.nextMediaUntil() == nil
        } catch {
            // Cut short by our own stop.
            if Task.isCancelled || gate.isStopping { return false }
            logger.error("The queue of downloads cannot be read.", metadata: ["error": "\(error)"])
            do { try await clock.sleep(for: Self.pause) } catch { return false }
            return false
        }
    }

    private func release() async throws(StoreError) {
        let parser = JSONParser.forEvents()
        let setup = setup.value
        while !gate.isStopping {
            let held = try await queue.heldDeliveries(upTo: Self.step)
            if !held.isEmpty { try await queue.release(held.map { Self.released($0, by: setup, parser) }) }
            if held.count < Self.step { return }
        }
    }

    private static func released(_ held: HeldDelivery, by setup: Setup, _ parser: JSONParser) -> MediaRelease {
        let media = EventMedia(states: held.media, href: setup.href)
        parser.reset()
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
            signal.yield()
        }
        // Cut short by our own stop: it counts as never begun.
        if case .interrupted = outcome, gate.isStopping { return }
        let settlement = settlement(of: job, outcome, by: setup.settings.retry)
        note(settlement, job)
        while !gate.isStopping {
            do throws(StoreError) {
                return try await queue.settle(media: settlement)
            } catch {
                logger.error("What a download brought cannot be noted.", metadata: ["error": "\(error)"])
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
