import Foundation
package import Logging
import ServiceLifecycle
import SignalboxStore

/// Opens the store as soon as its database can be reached. Then waits for the shutdown, because a service that ends
/// earlier would end its group.
package struct StoreOpening: NamedService {
    /// How long it waits between two attempts.
    private static let pause: Duration = .seconds(1)

    private let logger: Logger
    private let slot: GatewaySlot
    private let open: @Sendable () throws -> Gateway
    private let activate: @Sendable (Gateway) async throws -> Void

    /// `open`: blocks; throws while the store cannot be opened. `activate`: prepares the gateway, and makes the server
    /// use it.
    package init(
        logger: Logger, slot: GatewaySlot, open: @escaping @Sendable () throws -> Gateway,
        activate: @escaping @Sendable (Gateway) async throws -> Void
    ) { (self.logger, self.slot, self.open, self.activate) = (logger, slot, open, activate) }

    /// Runs until a graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var refusal: StoreError?
            // Used again after a failure of `activate`. A further store would open further sessions, and a server that
            // waits for a standby does not end the former ones.
            var found: Gateway?
            while !Task.isCancelled, !slot.isOpen {
                do {
                    let gateway = if let found { found } else { try await opened() }
                    found = gateway
                    try await activate(gateway)
                    return slot.open(gateway)
                } catch StoreError.unreachable {
                    // The connection has logged it.
                    refusal = nil
                } catch let error as StoreError {
                    if refusal != error { logger.error("Store cannot be opened.", metadata: ["error": "\(error)"]) }
                    refusal = error
                } catch {
                    logger.error("Store cannot be opened.", metadata: ["error": "\(error)"])
                }
                // Only an attempt shows whether a database can be reached.
                do { try await Task.sleep(for: Self.pause) } catch { return }
            }
        }
        // A service that ends before the shutdown would end the group.
        try await gracefulShutdown()
    }

    /// Off Swift's threads: connecting blocks.
    private func opened() async throws -> Gateway {
        try await withCheckedThrowingContinuation { done in
            DispatchQueue.global().async { done.resume(with: Result { try open() }) }
        }
    }
}
