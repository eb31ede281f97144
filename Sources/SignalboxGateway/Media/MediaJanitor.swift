package import Logging
import ServiceLifecycle
package import SignalboxStore

/// Removes files that events point to: at the start and once an hour those that have been kept long enough, and as soon as
/// there are too many bytes those whose last use is longest ago.
package struct MediaJanitor: Service {
    /// What it works with.
    package struct Work: Sendable {
        /// Removes what no waiting delivery needs and what is too old, or too much for so many bytes.
        fileprivate let remove: @Sendable (_ bytes: Int64) async throws -> Removal
        /// Removes what nobody knows any more; returns how many files.
        fileprivate let sweep: @Sendable () async throws -> Int
        /// How many bytes all files have.
        fileprivate let bytes: @Sendable () async throws -> Int64

        package init(
            remove: @escaping @Sendable (_ bytes: Int64) async throws -> Removal,
            sweep: @escaping @Sendable () async throws -> Int, bytes: @escaping @Sendable () async throws -> Int64
        ) {
            self.remove = remove
            self.sweep = sweep
            self.bytes = bytes
        }
    }

    /// What became of files that are not to be kept.
    package struct Removal: Sendable, Equatable {
        /// Those that are off the disk.
        package var removed = 0
        /// Those that are forgotten, but too young to be taken off the disk: a sweep does that later.
        package var young = 0

        package init(removed: Int = 0, young: Int = 0) {
            self.removed = removed
            self.young = young
        }
    }

    private let room: MediaRoom
    private let health: StoreHealth
    private let work: Work
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration

    /// Between two looks at everything.
    private static let interval: Duration = .seconds(3600)
    /// A file is on disk before the queue hears of it: for so long it is not taken off it.
    package static let youth: Duration = .seconds(600)

    /// `clock` and `elapsed` go equally fast.
    package init(
        _ room: MediaRoom, health: StoreHealth = StoreHealth(), work: Work, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        elapsed: @escaping @Sendable () -> Duration = Dispatcher.sinceStart
    ) {
        self.room = room
        self.health = health
        self.work = work
        self.logger = logger
        self.clock = clock
        self.elapsed = elapsed
    }

    /// Runs until a graceful shutdown.
    package func run() async throws {
        // The work ends when it is cancelled and throws nothing, so that a shutdown is a normal end.
        await cancelWhenGracefulShutdown { await runUntilCancelled() }
    }

    /// Runs until its task is cancelled.
    package func runUntilCancelled() async {
        room.open()
        defer { room.close() }
        var nextLook = elapsed()
        // When the last file will be old enough that was forgotten too young.
        var lastOld = nextLook
        while !Task.isCancelled {
            if elapsed() >= nextLook {
                if await remove(beyond: room.limit()) { lastOld = elapsed() + Self.youth }
                await sweep()
                nextLook = lastOld > elapsed() ? lastOld : elapsed() + Self.interval
            } else if room.isWanted, await remove(beyond: room.target) {
                lastOld = elapsed() + Self.youth
                nextLook = min(nextLook, lastOld)
            }
            guard await room.full.wait(atMost: max(nextLook - elapsed(), .zero), by: clock) else { return }
        }
    }

    /// True when files are left that will have to be taken off the disk.
    private func remove(beyond bytes: Int64) async -> Bool {
        do {
            var young = 0
            var left: Int64
            var isDone: Bool
            repeat {
                let removal = try await work.remove(bytes)
                note(removal.removed)
                young += removal.young
                room.willCount()
                left = try await work.bytes()
                // What was under way when it was full has come meanwhile. Where nothing can go, it is in use.
                isDone = left <= room.limit() || removal == Removal()
            } while !isDone && !Task.isCancelled
            room.made(left: left)
            noteSuccess(of: .media)
            return young > 0
        } catch {
            room.made(left: nil)
            note(error, of: .media)
            return false
        }
    }

    private func sweep() async {
        do {
            note(try await work.sweep())
            noteSuccess(of: .sweep)
        } catch {
            note(error, of: .sweep)
        }
    }

    private func note(_ removed: Int) {
        if removed > 0 { logger.info("Old files were removed.", metadata: ["files": "\(removed)"]) }
    }

    private func note(_ error: any Error, of upkeep: StoreHealth.Upkeep) {
        // Cut short by our own stop.
        if Task.isCancelled { return }
        guard health.record(upkeep, failure: "\(error)") == .fails else { return }
        logger.error("Old files cannot be removed.", metadata: ["error": "\(error)"])
    }

    private func noteSuccess(of upkeep: StoreHealth.Upkeep) {
        if health.record(upkeep, failure: nil) == .recovers { logger.notice("Old files can be removed again.") }
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension MediaJanitor: CustomStringConvertible {
    package var description: String { "MediaJanitor" }
}
