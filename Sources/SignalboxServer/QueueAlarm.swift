import Logging
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Tells the operator once when the queue stops taking events and once when it takes them again, however many requests
/// meet it.
final class QueueAlarm: Sendable {
    // A class because all requests share it.
    private let outage = Outage()
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    private func ring(_ reason: StoreError) {
        guard outage.begins() else { return }
        logger.error("The queue accepts no events; senders get 503.", metadata: ["error": "\(reason)"])
    }

    /// Rings when work fails because of the queue; puts what it fails with into words.
    func watching<R>(_ work: () async throws(Intake.Failure) -> R) async throws(Problem) -> R {
        do throws(Intake.Failure) {
            return try await work()
        } catch {
            throw problem(of: error)
        }
    }

    /// The same for a failure that is known already.
    func problem(of failure: Intake.Failure) -> Problem {
        if case .store(let reason) = failure { ring(reason) }
        return Problem(failure)
    }

    func silence() {
        if outage.ends() { logger.notice("The queue accepts events again.") }
    }
}
