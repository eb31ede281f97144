package import ServiceLifecycle

/// A service of a gateway, which begins when the gateway is open.
package struct WhenOpen: Service, CustomStringConvertible {
    private let slot: GatewaySlot
    /// The name of the service, for the log.
    package let description: String
    private let make: @Sendable (Gateway) -> any Service

    /// `make`: called once, with the open gateway.
    package init(
        _ slot: GatewaySlot, _ description: String, _ make: @escaping @Sendable (Gateway) -> any Service
    ) {
        (self.slot, self.description, self.make) = (slot, description, make)
    }

    /// Runs until the service ends; without an open gateway, until a graceful shutdown.
    package func run() async throws {
        guard let gateway = await slot.opened() else {
            // Services end in their order: one that ends before its turn counts as failed.
            do { try await gracefulShutdown() } catch { return }
            return
        }
        try await make(gateway).run()
    }
}
