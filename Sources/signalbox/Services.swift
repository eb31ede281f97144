import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Runs services until one of them fails, or SIGTERM or ^C arrives. Returns true after ^C.
func runServices(_ services: [any Service], logger: Logger) async throws -> Bool {
    var configuration = ServiceGroupConfiguration(
        services: services, gracefulShutdownSignals: [.sigterm], logger: logger)
    let interrupt = Interrupt()
    configuration.services.append(.init(service: interrupt))
    let group = ServiceGroup(configuration: configuration)
    interrupt.onInterrupt { await group.triggerGracefulShutdown() }
    try await group.run()
    return interrupt.happened
}

/// Turns ^C into a graceful shutdown and remembers it.
///
/// A class because its service writes the state and the command reads it.
private final class Interrupt: Service {
    private let state = Mutex((happened: false, action: Optional<@Sendable () async -> Void>.none))

    var happened: Bool { state.withLock { $0.happened } }

    func onInterrupt(_ action: @escaping @Sendable () async -> Void) {
        state.withLock { $0.action = action }
    }

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sigint).cancelOnGracefulShutdown() {
            let action = state.withLock { state in
                state.happened = true
                return state.action
            }
            await action?()
        }
    }
}
