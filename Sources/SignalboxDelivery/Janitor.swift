package import Logging
import ServiceLifecycle
package import SignalboxStore

/// Removes from the queue, and of the files that events point to, what has been kept long enough.
package struct Janitor: Service {
    private let queue: SQLiteQueue
    private let retention: @Sendable () -> SQLiteQueue.Retention
    private let removeFiles: @Sendable () async throws -> Int
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// Between two rounds.
    private static let interval: Duration = .seconds(60)
    /// Rounds from one look at the files to the next: an hour.
    private static let roundsPerLook = 60
    /// Between two steps of one round, so that others get at the file.
    private static let breath: Duration = .milliseconds(20)

    /// `retention`: what is kept, asked every round. `removeFiles`: removes files that have been kept long enough, and says how many.
    package init(
        _ queue: SQLiteQueue, retention: @escaping @Sendable () -> SQLiteQueue.Retention, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        removeFiles: @escaping @Sendable () async throws -> Int
    ) {
        self.queue = queue
        self.retention = retention
        self.logger = logger
        self.clock = clock
        self.removeFiles = removeFiles
    }

    /// Runs until a graceful shutdown.
    package func run() async throws {
        // The work ends when it is cancelled and throws nothing, so that a shutdown is a normal end.
        await cancelWhenGracefulShutdown {
            var round = 0
            while !Task.isCancelled {
                await clean()
                if round.isMultiple(of: Self.roundsPerLook) { await cleanFiles() }
                round += 1
                do { try await clock.sleep(for: Self.interval) } catch { return }
            }
        }
    }

    private func clean() async {
        do throws(StoreError) {
            let removed = try await queue.remove(beyond: retention()) {
                do { try await clock.sleep(for: Self.breath) } catch { return }
            }
            if removed > 0 { logger.info("Old events were removed.", metadata: ["events": "\(removed)"]) }
        } catch {
            // Cut short by our own stop.
            if Task.isCancelled { return }
            logger.error("Old events cannot be removed.", metadata: ["error": "\(error)"])
        }
    }

    private func cleanFiles() async {
        do {
            let removed = try await removeFiles()
            if removed > 0 { logger.info("Old files were removed.", metadata: ["files": "\(removed)"]) }
        } catch {
            // Cut short by our own stop.
            if Task.isCancelled { return }
            logger.error("Old files cannot be removed.", metadata: ["error": "\(error)"])
        }
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension Janitor: CustomStringConvertible {
    package var description: String { "Janitor" }
}
