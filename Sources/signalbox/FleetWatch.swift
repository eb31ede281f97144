import Logging
import ServiceLifecycle
import SignalboxGateway
import SignalboxPostgres
import SignalboxStore

/// Tells the other nodes of a database which config this one has, and warns when configs differ for long. Does nothing
/// for the embedded queue.
struct FleetWatch: Service, CustomStringConvertible {
    let description = "FleetWatch"
    private static let interval: Duration = .seconds(10)
    /// Configs differ while a new one is rolled out.
    private static let patience: Duration = .seconds(300)

    let gateway: Gateway
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var difference: ContinuousClock.Instant?
            var isReported = false
            while !Task.isCancelled {
                do { try await Task.sleep(for: Self.interval) } catch { return }
                guard let store = gateway.queue as? PostgresStore else { continue }
                store.describe(
                    NodeDescription(version: Version.current, config: gateway.plan.config.origin.digest))
                // The connection reports a database that cannot be reached.
                guard let fleet = try? await store.fleet() else { continue }
                difference = fleet.configs > 1 ? difference ?? .now : nil
                let isLong = difference.map { ContinuousClock.now - $0 >= Self.patience } ?? false
                guard isLong != isReported else { continue }
                isReported = isLong
                if isLong {
                    logger.warning(
                        "Gateways of one database have different configs.", metadata: ["configs": "\(fleet.configs)"])
                } else {
                    logger.notice("Gateways of one database have the same config again.")
                }
            }
        }
    }
}
