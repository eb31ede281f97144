package import Logging
import ServiceLifecycle
package import SignalboxConfig
import SignalboxInApp
package import SignalboxStore

/// Removes events and deliveries beyond their retention from the queue. Runs a round every minute. A failed round is
/// logged once and repeated with the next one.
package struct Janitor: NamedService {
    private let queue: any UpkeepStore
    private let retention: @Sendable () -> Retention
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// Time between two rounds.
    private static let interval: Duration = .seconds(60)
    /// Time between two steps of a round, so that other work gets access to the file.
    private static let pause: Duration = .milliseconds(20)

    /// `retention`: called in each round, so a reload takes effect without a restart.
    package init(
        _ queue: any UpkeepStore, retention: @escaping @Sendable () -> Retention, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) { (self.queue, self.retention, self.logger, self.clock) = (queue, retention, logger, clock) }

    /// Runs until a graceful shutdown. Starts with a round at once. A round in progress ends at its next step.
    package func run() async throws {
        // The closure does not throw, so that a shutdown is a normal return.
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await clean()
                do { try await clock.sleep(for: Self.interval) } catch { return }
            }
        }
    }

    /// Works in short steps, so that commits of other tasks come between them. Reports failures to the queue's
    /// health.
    private func clean() async {
        guard queue.leads else { return }
        do throws(StoreError) {
            let removed = try await queue.remove(beyond: retention()) {
                do { try await clock.sleep(for: Self.pause) } catch { return }
            }
            if queue.health.record(.retention, failure: nil) == .recovers {
                logger.notice("Removal of old events works again.")
            }
            if removed > 0 { logger.info("Old events removed.", metadata: ["events": "\(removed)"]) }
        } catch {
            // The gateway's own stop cancelled the step.
            if Task.isCancelled { return }
            guard !error.isUnreachable, queue.health.record(.retention, failure: "\(error)") == .fails else { return }
            logger.error("Cannot remove old events.", metadata: ["error": "\(error)"])
        }
    }
}

extension Retention {
    /// The retention that a config sets. Sizes are in bytes.
    package init(_ config: GatewayConfig) {
        self.init(
            ended: config.retention.ended, dead: config.retention.dead, bytes: config.retention.bytes,
            categories: .init(age: config.categories.age, count: config.categories.count),
            inApp: InAppRetention(config.inapp))
    }
}

extension InAppRetention {
    /// The retention that a policy needs: limits without an end count totals beyond the history.
    fileprivate init(_ policy: Policy) {
        let lifetime = policy.limits.filter { $0.window == .lifetime }
        self.init(
            history: .milliseconds(policy.history),
            lifetimeTotals: Set(
                lifetime.compactMap { limit in
                    switch limit.owner {
                    case .message: nil
                    case .vendor(let vendor): .vendor(vendor)
                    case .scope: .scope
                    case .named(let name): .named(name)
                    }
                }))
    }
}
