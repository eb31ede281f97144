package import Foundation
import SignalboxEgress
package import SignalboxNotification
package import SignalboxStore

/// The result of a test event.
package struct PingResult: Sendable {
    package let wasTaken: Bool
    /// HTTP status, if there was an answer.
    package let status: Int?
    /// Milliseconds.
    package let duration: Int
    package let remote: String?
    package let words: String

    package init(_ result: SendResult) {
        status = result.answer.status
        wasTaken = status.map { (200..<300).contains($0) } ?? false
        duration = Int(result.attempt.duration / .milliseconds(1))
        remote = result.attempt.remote
        let what = if case .failed(let error) = result.answer { error.description } else { "answered \(status ?? 0)" }
        words = what + " after \(duration) ms" + (remote.map { " (\($0))" } ?? "")
    }

    /// A test that was not sent, with the reason.
    init(withheld reason: String) {
        wasTaken = false
        status = nil
        duration = 0
        remote = nil
        words = reason
    }
}

extension OperationalEvent {
    /// A test event as a lease for a sender, without a delivery in the queue.
    package func pingLease(to destination: DestinationName, at now: Date = Date()) -> Lease {
        let event = ping(destination, at: now)
        return Lease(
            delivery: 0, event: event.id.description, destination: destination, attempts: 0, body: event.body)
    }
}
