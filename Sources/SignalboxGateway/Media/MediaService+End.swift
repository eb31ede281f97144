import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// Decides how a download ends.
extension MediaService {
    /// How long an older file is used before the next request to its server.
    private static let stale: Duration = .seconds(600)

    /// The result to record for an outcome. `number`: the number of this attempt, from 1. `random`: in 0..<1. Pure. The
    /// last attempt keeps an older stored file in use for a while, if there is one.
    static func end(
        of outcome: MediaOutcome, number: Int, by retry: Destination.Retry, random: Double
    ) -> MediaSettlement.End {
        switch outcome {
        case .stored(let file, let freshness, let remarks): return .stored(file, freshness, remarks: remarks)
        case .unchanged(let freshness): return .unchanged(freshness)
        case .failed(let failure): return .failed(failure)
        case .interrupted(let failure, let after):
            // A server that is down must not take a stored file away from events.
            guard number < retry.attempts else { return .keptStale(failure, for: Self.stale) }
            // As with deliveries: a random time in addition to the requested one.
            let asked = min(after.map { $0 / .seconds(1) } ?? 0, RetryPolicy.longestRetryAfter)
            let wait = asked + RetryPolicy(retry).backoff(number) * random
            return .retry(after: .seconds(wait), failure)
        }
    }
}
