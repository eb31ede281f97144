import Foundation
import Logging
import ServiceLifecycle
import SignalboxConfig
import SignalboxNotification
package import SignalboxStore

/// Downloads the files that deliveries wait for, and releases those deliveries once their files are stored, have
/// failed, or their waiting time is over.
///
/// The flow: the queue holds the requested URLs, and this service holds only downloads in flight, so a crash loses
/// none and a long list needs no memory. Each pass releases deliveries (``EventMedia`` fills in their files) and
/// starts due downloads (``MediaFetcher``) as ``MediaGate`` and ``MediaQuota`` permit.
package struct MediaService: NamedService {
    /// Settings of the config, and the functions that depend on it. One value for each config. Closures must be
    /// callable from any task.
    struct Setup: Sendable {
        let settings: GatewayConfig.Media
        /// The directory of the files, for the log.
        var directory = "media"
        /// The shortest time that deliveries wait for files; nil if none wait.
        var shortestWait: Duration?
        /// The URL of a stored file for receivers.
        let href: @Sendable (MediaFile) -> String
        /// False if a stored file has vanished from the disk, or has another size. May block.
        var exists: @Sendable (MediaFile) -> Bool = { _ in true }
        /// How long deliveries wait for the answers of `exists`; then they link to files that may have vanished.
        var patience = Duration.seconds(5)
        /// Applies a route's transformation to an event with its files.
        let transform: @Sendable (_ event: [UInt8], _ route: String) -> [UInt8]
        /// Fetches and stores a file.
        let download: @Sendable (MediaJob) async -> MediaOutcome
    }

    private let queue: any DownloadStore
    private let setup: Replaceable<Setup>
    private let quota: MediaQuota
    /// Cancels the downloads in flight of all plans.
    private let cancel: @Sendable () -> Void
    let logger: Logger
    private let clock: any Clock<Duration>
    private let delayed: DelayedCall
    let gate = MediaGate()
    private let wakeUp = WakeUp()
    /// The end of ``runUntilDrained()``.
    private let ended = FirstResult<Void>()
    /// Whether the last pass failed, so that an outage is logged once.
    private let outage = Outage()
    /// Whether the gateway could not store the last file that arrived, so that a full disk is logged once.
    private let storage = Outage()
    let lostFiles = LostFiles()
    /// Whether the last search found missing files, so that a lost directory is logged once.
    let losses = Outage()
    /// Whether the last search timed out.
    let silence = Outage()

    /// The shortest and the longest sleep before a known time. Corrections of the wall clock delay deliveries by no
    /// more than the longest one.
    private static let sleep: ClosedRange<Duration> = .milliseconds(10)...(.seconds(30))
    /// Pause after a failure of the queue.
    private static let pause: Duration = .seconds(1)
    /// Maximum number of deliveries released by one transaction.
    private static let step = 256
    /// How long a stop waits for work that a disk holds up.
    static let stopTime: Duration = .seconds(5)

    /// `quota`: receives the size of every file and pauses downloads while it is exceeded. `cancel`: cancels every
    /// download in flight, whichever setup it started with. `clock` runs as fast as the queue's. `delayed`: ends a stop
    /// that takes too long.
    init(
        _ queue: any DownloadStore, _ setup: Setup, quota: MediaQuota = MediaQuota(limit: { .max }),
        cancel: @escaping @Sendable () -> Void = {}, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        delayed: DelayedCall = .onQueue
    ) {
        self.queue = queue
        self.setup = Replaceable(setup)
        (self.quota, self.cancel, self.logger, self.clock, self.delayed) = (quota, cancel, logger, clock, delayed)
        quota.whenFree { [wakeUp] in wakeUp.wake() }
    }

    /// Replaces the setup. Downloads in flight end with the former one. Callable from any thread. Deliveries are
    /// filled by the new setup from the next pass on.
    func replace(by setup: Setup) {
        self.setup.replace(by: setup)
        wakeUp.wake()
    }

    /// Runs until a graceful shutdown, and ends then without waiting for downloads. The next process restarts
    /// downloads that have not ended. Never throws. Its group must stop it before the queue is closed.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await runUntilDrained()
        } onGracefulShutdown: {
            stop()
        }
    }

    /// Prepares the queue; call it before the first delivery. Deliveries whose waiting time ended while no gateway
    /// ran are held until they can be released with the files that exist. Throws errors of the queue.
    package func open() async throws(StoreError) { try await queue.openMedia { [wakeUp] in wakeUp.wake() } }

    /// Runs until the deliveries that waited for a file at ``drain()`` do not wait any longer, or ``stop()`` was
    /// called. Then a disk that hangs holds it up for at most ``stopTime``. Call it once.
    func runUntilDrained() async {
        // Not structured: a read or write of a disk cannot be interrupted.
        let passes = Task { ended.set(await runPasses()) }
        await withTaskCancellationHandler {
            _ = await ended.value()
        } onCancel: {
            passes.cancel()
        }
    }

    private func runPasses() async {
        await withDiscardingTaskGroup { downloads in
            var time: Duration?
            // The end of the last wait that existed when the drain began; nil before it.
            var last: Date?
            while await wakeUp.wait(atMost: time, by: clock), !gate.isStopping {
                if last == nil, gate.state.isDraining { last = await lastWait() }
                let pass = await pass { job in downloads.addTask { await self.carryOut(job) } }
                if gate.isStopping || last.map({ pass.isOver($0) }) ?? false { break }
                time = pass.next.map { pause(until: $0) }
            }
        }
        if !gate.isStopping { await leaveDownloads() }
    }

    /// Nil after a failure, which the pass reports.
    private func lastWait() async -> Date? {
        do { return try await queue.lastMediaUntil() ?? .distantPast } catch { return nil }
    }

    /// After a drain: this process may go on to use the store, but no longer downloads.
    private func leaveDownloads() async {
        do throws(StoreError) { try await queue.closeMedia() } catch {
            logger.notice(
                "Cannot hand over downloads; other gateways take them when this process ends.",
                metadata: ["error": "\(error)"])
        }
    }

    /// Ends the service once none of the deliveries that wait for a file at this call still waits. Deliveries that
    /// other processes add later do not delay the end. Callable from any thread.
    package func drain() {
        gate.drain()
        wakeUp.wake()
    }

    /// Ends the service. Downloads in flight are cancelled and count as never started. Callable from any thread, and
    /// more than once. Deliveries that wait stay in the queue.
    package func stop() {
        gate.stop()
        cancel()
        wakeUp.wake()
        delayed(after: Self.stopTime) { [ended] in ended.set(nil) }
    }

    /// The queue's clock and the sleep's clock may drift apart, so a long wait is cut into pieces.
    private func pause(until date: Date) -> Duration {
        // In the queue's units: milliseconds, with the present rounded down.
        let now = (queue.now.timeIntervalSince1970 * 1000).rounded(.down)
        let time = (date.timeIntervalSince1970 * 1000).rounded() - now
        return min(max(.milliseconds(time), Self.sleep.lowerBound), Self.sleep.upperBound)
    }

    // MARK: One pass

    /// The result of one pass over the queue.
    private struct Pass {
        /// When the first wait for a file is over: in the distant past if that is not known, in the distant future if
        /// no delivery waits.
        var firstWait = Date.distantPast
        /// When to run the next pass without a signal; nil for never.
        var next: Date?

        /// Whether no wait is left that ends at this time or before.
        func isOver(_ wait: Date) -> Bool { firstWait > wait }
    }

    /// Releases deliveries and starts downloads. After an error of the queue it logs the beginning of the outage,
    /// waits a second and asks for another pass.
    private func pass(_ begin: (MediaJob) -> Void) async -> Pass {
        do throws(StoreError) {
            try await release()
            let hasPlaces = try await beginDue(begin)
            let until = try await queue.nextMediaUntil()
            // Without a free place, no download can start: the end of a download wakes the service.
            let due = hasPlaces ? try await queue.nextMediaDue() : nil
            if outage.ends() { logger.notice("Download queue readable again.") }
            return Pass(firstWait: until ?? .distantFuture, next: [until, due].compactMap(\.self).min())
        } catch {
            // The service's own stop cancelled the pass.
            if Task.isCancelled || gate.isStopping { return Pass() }
            if outage.begins(by: error) {
                logger.error("Cannot read the download queue.", metadata: ["error": "\(error)"])
            }
            do { try await clock.sleep(for: Self.pause) } catch { return Pass() }
            return Pass(next: queue.now)
        }
    }

    /// Releases in steps of ``step`` deliveries, until none is due or complete.
    private func release() async throws(StoreError) {
        let setup = setup.value
        while !gate.isStopping {
            let held = try await queue.heldDeliveries(upTo: Self.step)
            // A step may be incomplete because of its memory limit, so only an empty one ends the loop.
            if held.isEmpty { return }
            let lost = await missingFiles(of: held, by: setup)
            // The next process releases them, with files that it has looked for.
            if gate.isStopping || Task.isCancelled { return }
            try await queue.release(held.map { Self.released($0, without: lost, by: setup) })
            // Their servers may have called them fresh for a year.
            if !lost.isEmpty { try await queue.expireMedia(lost.sorted()) }
        }
    }

    /// True if places are left. Respects the limits of all downloads and of each host. Starts none while the quota is
    /// exceeded. Prefers downloads that can end within the shortest wait: they have at least half of it left. So a
    /// host that answers too slowly for all of its files still delivers some in time.
    private func beginDue(_ begin: (MediaJob) -> Void) async throws(StoreError) -> Bool {
        let (setup, state) = (setup.value, gate.state)
        let free = setup.settings.concurrency - state.hosts.count
        guard free > 0, !state.isStopping, !quota.isFull else { return false }
        let recent = setup.shortestWait.map { queue.now - $0 / 2 } ?? .distantPast
        let jobs = try await queue.dueMedia(
            upTo: free, perHost: setup.settings.perHost, busy: state.busy, excluding: Set(state.hosts.keys),
            dueSince: recent)
        for job in jobs {
            gate.begin(job)
            begin(job)
        }
        return jobs.count < free
    }

    // MARK: One download

    /// Holds its place until its result is on disk. Results are repeated once a second after an error.
    private func carryOut(_ job: MediaJob) async {
        let setup = setup.value
        let outcome = await setup.download(job)
        defer {
            gate.end(job)
            wakeUp.wake()
        }
        // The service's own stop cancelled the download, which counts as never started.
        if case .interrupted = outcome, gate.isStopping { return }
        let end = Self.end(of: outcome, number: job.attempts + 1, by: setup.settings.retry, random: .random(in: 0..<1))
        report(end, job, in: setup.directory)
        let failure = Outage()
        while !gate.isStopping {
            do throws(StoreError) {
                try await queue.settle(media: MediaSettlement(job.id, end))
                if case .stored(let file, _, _) = outcome { quota.add(file.bytes) }
                return
            } catch {
                if failure.begins(by: error) {
                    logger.error("Cannot record the result of a download; retrying.", metadata: ["error": "\(error)"])
                }
            }
            // The download keeps its place: a new one would fail in the same way.
            do { try await clock.sleep(for: Self.pause) } catch { return }
        }
    }

    /// Logs the host only, because URLs may contain secrets. Failures of servers are information: an event with a
    /// failed file is still delivered. A full disk is an error of the gateway.
    private func report(_ end: MediaSettlement.End, _ job: MediaJob, in directory: String) {
        let failure: MediaFailure
        switch end {
        case .stored:
            if storage.ends() { logger.notice("Media files stored again.") }
            return
        case .unchanged: return
        case .failed(let why): failure = why
        case .keptStale(let why, _), .retry(_, let why):
            failure = why
            if why.code == .storage, storage.begins() {
                logger.error(
                    "Cannot store media files; events have none, or older ones.",
                    metadata: ["directory": "\(directory)", "error": "\(why.words)"])
            }
        }
        logger.info(
            "Download failed.",
            metadata: ["host": "\(job.host)", "reason": "\(failure.code.rawValue)", "attempt": "\(job.attempts + 1)"])
    }
}
