import Foundation
import Logging
import ServiceLifecycle
import SignalboxGateway
import UnixSignals

/// Runs services until one of them fails, or SIGTERM or ^C arrives. Returns true after ^C. Services start in their
/// order and stop in the reverse order, each after its graceful shutdown. Throws the first error of a service.
func runServices(_ services: [any Service], logger: Logger) async throws -> Bool {
    let group = ServiceGroup(
        configuration: .init(services: services, gracefulShutdownSignals: [.sigterm], logger: logger))
    let interruption = Interruption(by: SIGINT)
    // Unstructured: the handler of a signal is not a task.
    interruption.whenItHappens { Task { await group.triggerGracefulShutdown() } }
    try await group.run()
    return interruption.happened
}
