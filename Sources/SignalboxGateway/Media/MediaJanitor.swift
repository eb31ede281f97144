import Logging
import ServiceLifecycle
import SignalboxStore

/// Removes stored files. At the start and once an hour, it removes those beyond their retention. When the quota is
/// exceeded, it removes the least recently used files at once; it counts those of other processes once a minute. One
/// janitor runs for each data directory. Errors are logged once and recorded in the queue's health.
package struct MediaJanitor: NamedService {
    /// The removal itself. The closures run one at a time; after an error, the next round repeats the work.
    struct Work: Sendable {
        /// Removes files that are too old, or exceed `bytes`, and that no waiting delivery needs.
        let remove: @Sendable (_ bytes: Int64) async throws -> Removal
        /// Deletes files that the queue does not know; returns how many.
        let sweep: @Sendable () async throws -> Int
        /// Size of all files in bytes.
        let bytes: @Sendable () async throws -> Int64
        /// Whether other processes store files too, which only a count shows.
        var isShared = false
    }

    /// The result of a removal.
    struct Removal: Sendable, Equatable {
        /// Files deleted from the disk.
        var removed = 0
        /// Files removed from the queue that are too young to be deleted: a later sweep does that.
        var young = 0
    }

    private let quota: MediaQuota
    private let health: StoreHealth
    private let work: Work
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let delayed: DelayedCall

    /// Time between two complete rounds.
    private static let interval: Duration = .seconds(3600)
    /// Time between two counts of the files that other processes store too.
    private static let countInterval: Duration = .seconds(60)
    /// Files younger than this are not deleted, because a file is on disk before the queue knows it.
    static let youth: Duration = .seconds(600)

    /// `clock` and `elapsed` run at the same speed. `quota`: shared with the downloads. `work`: ``MediaCleanup``, or
    /// a test's own. `delayed`: ends a stop that takes too long.
    init(
        _ quota: MediaQuota, health: StoreHealth = StoreHealth(), work: Work, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        elapsed: @escaping @Sendable () -> Duration = Dispatcher.sinceStart, delayed: DelayedCall = .onQueue
    ) {
        self.quota = quota
        self.health = health
        self.work = work
        self.logger = logger
        self.clock = clock
        self.elapsed = elapsed
        self.delayed = delayed
    }

    /// Runs until a graceful shutdown. Never throws. The first round begins at once.
    package func run() async throws {
        // The work does not throw, so that a shutdown is a normal return.
        await cancelWhenGracefulShutdown { await runUntilCancelled() }
    }

    /// Runs until its task is cancelled. Then a disk that hangs holds it up for at most ``MediaService/stopTime``.
    func runUntilCancelled() async {
        _ = await delayed.result(afterCancellation: MediaService.stopTime) { await runRounds() }
    }

    /// Opens the quota for its duration: without a janitor, downloads do not pause.
    private func runRounds() async {
        quota.open()
        defer { quota.close() }
        var nextSweep = elapsed()
        // When the youngest file that was removed from the queue is old enough to be deleted from the disk.
        var youngIsOldAt = nextSweep
        while !Task.isCancelled {
            if elapsed() >= nextSweep {
                if await remove(beyond: quota.limit()) { youngIsOldAt = elapsed() + Self.youth }
                await sweep()
                nextSweep = youngIsOldAt > elapsed() ? youngIsOldAt : elapsed() + Self.interval
            } else if quota.isExceeded, await remove(beyond: quota.target) {
                youngIsOldAt = elapsed() + Self.youth
                nextSweep = min(nextSweep, youngIsOldAt)
            }
            let pause = work.isShared ? min(nextSweep - elapsed(), Self.countInterval) : nextSweep - elapsed()
            guard await quota.exceeded.wait(atMost: max(pause, .zero), by: clock) else { return }
            if work.isShared, !quota.isExceeded, elapsed() < nextSweep { await count() }
        }
    }

    /// The quota may be exceeded afterwards. An error leaves the former count.
    private func count() async {
        do {
            quota.willCount()
            quota.counted(try await work.bytes())
        } catch { report(error, of: .media) }
    }

    /// True if files are left that must be deleted later. Repeats while downloads in flight exceed the limit again.
    /// Downloads may continue after it, whether it succeeded or not.
    private func remove(beyond bytes: Int64) async -> Bool {
        do {
            var young = 0
            var left: Int64
            var isDone: Bool
            repeat {
                let removal = try await work.remove(bytes)
                report(removal.removed)
                young += removal.young
                quota.willCount()
                left = try await work.bytes()
                // Downloads in flight have stored files since. If none could be removed, all are in use.
                isDone = left <= quota.limit() || removal == Removal()
            } while !isDone && !Task.isCancelled
            quota.removed(left: left)
            reportSuccess(of: .media)
            return young > 0
        } catch {
            quota.removed(left: nil)
            report(error, of: .media)
            return false
        }
    }

    /// An error leaves the files for the next round.
    private func sweep() async {
        do {
            report(try await work.sweep())
            reportSuccess(of: .sweep)
        } catch { report(error, of: .sweep) }
    }

    /// Logs the removal if there was one.
    private func report(_ removed: Int) {
        if removed > 0 { logger.info("Old files removed.", metadata: ["files": "\(removed)"]) }
    }

    /// Logs the first error in a row, unless the task has been cancelled.
    private func report(_ error: any Error, of upkeep: StoreHealth.Upkeep) {
        // The janitor's own stop cancelled the work.
        if Task.isCancelled || (error as? StoreError)?.isUnreachable == true { return }
        guard health.record(upkeep, failure: "\(error)") == .fails else { return }
        logger.error("Cannot remove old files.", metadata: ["error": "\(error)"])
    }

    /// Logs the first success after an error.
    private func reportSuccess(of upkeep: StoreHealth.Upkeep) {
        if health.record(upkeep, failure: nil) == .recovers { logger.notice("Removal of old files works again.") }
    }
}
