package import Logging
import ServiceLifecycle
package import SignalboxStore

/// Removes from the queue what has been kept long enough.
package struct Janitor: Service {
    private let queue: any UpkeepStore
    private let retention: @Sendable () -> Retention
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// Between two rounds.
    private static let interval: Duration = .seconds(60)
    /// Between two steps of one round, so that others get at the file.
    private static let breath: Duration = .milliseconds(20)

    /// `retention`: what is kept, asked every round.
    package init(
        _ queue: any UpkeepStore, retention: @escaping @Sendable () -> Retention, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.queue = queue
        self.retention = retention
        self.logger = logger
        self.clock = clock
    }

    /// Runs until a graceful shutdown.
    package func run() async throws {
        // The work ends when it is cancelled and throws nothing, so that a shutdown is a normal end.
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await clean()
                do { try await clock.sleep(for: Self.interval) } catch { return }
            }
        }
    }

    private func clean() async {
        do throws(StoreError) {
            let removed = try await queue.remove(beyond: retention()) {
                do { try await clock.sleep(for: Self.breath) } catch { return }
            }
            if queue.health.record(.retention, failure: nil) == .recovers {
                logger.notice("Old events can be removed again.")
            }
            if removed > 0 { logger.info("Old events were removed.", metadata: ["events": "\(removed)"]) }
        } catch {
            // Cut short by our own stop.
            if Task.isCancelled { return }
            guard queue.health.record(.retention, failure: "\(error)") == .fails else { return }
            logger.error("Old events cannot be removed.", metadata: ["error": "\(error)"])
        }
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension Janitor: CustomStringConvertible {
    package var description: String { "Janitor" }
}
