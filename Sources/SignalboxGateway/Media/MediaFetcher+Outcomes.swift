import Foundation
import SignalboxEgress
import SignalboxNotification

/// What stands in the way of a download, and whether it may pass.
extension MediaFetcher {
    /// No server keeps us waiting longer than this.
    private static let longestRetryAfter: TimeInterval = 24 * 3600

    static func outcome(of error: TransportError, from host: String) -> MediaOutcome {
        let failure = MediaFailure(code(of: error), "\(host): \(error.description)")
        // Somebody else is there, or the server's keeper has to act: asking again at once changes neither.
        if case .certificate = error { return .failed(failure) }
        return error.isTemporary ? .interrupted(failure, after: nil) : .failed(failure)
    }

    private static func code(of error: TransportError) -> MediaFailure.Code {
        switch error {
        case .denied: .denied
        case .unresolved: .dns
        // Ours to open and not opened: as if nobody had taken it.
        case .refused, .exhausted: .refused
        case .tls, .certificate: .tls
        case .timeoutConnecting, .timeoutReplying: .timeout
        case .interrupted, .token: .reset
        case .unusable: .url
        case .stopped: .stopped
        }
    }

    /// Of a status that is neither 200 nor a redirect, nor the 304 that was asked for.
    static func outcome(of reply: OutboundReply, from host: String, now: Date) -> MediaOutcome {
        let words = "\(host) answered \(reply.status)."
        switch reply.status {
        case 404, 410: return .failed(MediaFailure(.notFound, words))
        case 408, 425, 429, 500..<600:
            let wait = reply.retryAfter.map { min($0.delay(from: now), longestRetryAfter) }
            return .interrupted(MediaFailure(.status, words), after: wait.map { .seconds($0) })
        default: return .failed(MediaFailure(.status, words))
        }
    }
}
