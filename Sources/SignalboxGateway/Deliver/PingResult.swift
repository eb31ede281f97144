package import Foundation
import SignalboxEgress
import SignalboxJSON
package import SignalboxNotification
package import SignalboxStore

/// The result of a test event. `signalbox destinations test` and the API report it. The attempt is not stored.
package struct PingResult: Sendable {
    /// True if the destination answered with 2xx.
    package let wasTaken: Bool
    /// HTTP status; nil without an answer.
    package let status: Int?
    /// Milliseconds.
    package let duration: Int
    /// Address and port of the connection; nil without one.
    package let remote: String?
    /// The result as a clause, for people.
    package let words: String

    /// Reads the answer and the duration of the attempt.
    package init(_ result: SendResult) {
        status = result.answer.status
        wasTaken = status.map { (200..<300).contains($0) } ?? false
        duration = Int(result.attempt.duration / .milliseconds(1))
        remote = result.attempt.remote
        guard case .failed(let error) = result.answer else {
            words = "answered \(status ?? 0) after \(duration) ms" + (remote.map { " (\($0))" } ?? "")
            return
        }
        // Most reasons of libcurl have the time already.
        let time = error.description.contains(" after ") ? nil : "\(duration) ms"
        let details = [time, remote].compactMap(\.self).joined(separator: ", ")
        words = error.description + (details.isEmpty ? "" : " (\(details))")
    }

    /// A test that was not sent, with the reason. The destination received at most the request for permission.
    init(withheld reason: String) { (wasTaken, status, duration, remote, words) = (false, nil, 0, nil, reason) }

    /// A test that was not sent, because the gateway stops.
    static var notSent: PingResult { PingResult(withheld: TransportError.stopped.description) }
}

extension OperationalEvent {
    /// A test event as a lease for a sender, without a delivery in the queue. It has delivery id 0 and no earlier
    /// attempts.
    package func pingLease(to destination: DestinationName, at now: Date = Date()) -> Lease {
        let event = event(.ping, subject: "destination/\(destination)", at: now) {
            $0.member("destination", destination.name)
        }
        return Lease(delivery: 0, event: event.id.description, destination: destination, attempts: 0, body: event.body)
    }
}
