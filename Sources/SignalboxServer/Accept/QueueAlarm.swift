import Logging
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Logs once when the queue stops accepting events, and once when it accepts them again.
final class QueueAlarm: Sendable {
    // A class because all requests share it.
    /// Whether an outage was logged and has not ended.
    private let outage = Outage()
    private let logger: Logger

    /// One alarm for a gateway: a second one would log each outage twice.
    init(logger: Logger) { self.logger = logger }

    /// Runs an append, and logs a failure of the queue. Throws the response to the failure. Errors other than those
    /// of the queue pass without a log line: they are the sender's.
    func watching<R>(_ append: () async throws(Intake.Failure) -> R) async throws(Problem) -> R {
        do throws(Intake.Failure) { return try await append() } catch { throw problem(of: error) }
    }

    /// The response to a failure. Logs a failure of the queue. Logs the first failure of an outage only. Safe to call
    /// from any thread.
    func problem(of failure: Intake.Failure) -> Problem {
        // The connection reports a database that cannot be reached.
        if case .store(let reason) = failure, !reason.isUnreachable, outage.begins() {
            logger.error("Queue write failed; answering 503.", metadata: ["error": "\(reason)"])
        }
        return Problem(failure)
    }

    /// Records the results of an append that did not fail. If every item was rejected, no event was appended, and the
    /// queue may still fail. Logs the end of an outage once.
    func recover<Item, Failure: Error>(by items: [Result<Item, Failure>]) {
        if items.contains(where: { if case .success = $0 { true } else { false } }) { recover() }
    }

    /// Records a durable write. Logs the end of an outage once.
    func recover() {
        guard outage.ends() else { return }
        logger.notice("Queue accepts events again.")
    }
}
