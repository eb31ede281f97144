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

/// Releases deliveries.
extension MediaService {
    /// A stored file that has vanished counts as failed, so that no event links to it. The route's transformation
    /// runs after the files are filled in.
    static func released(
        _ held: HeldDelivery, without lost: Set<String>, by setup: Setup
    ) -> MediaRelease {
        let states = held.media.mapValues { state in
            guard case .stored(let file, _) = state, lost.contains(file.sha256) else { return state }
            return .failed(MediaFailure(.storage, "The stored file has vanished, or has another size."))
        }
        let media = EventMedia(states: states, href: setup.href)
        // The gateway wrote the event. One that cannot be parsed was accepted under larger limits; it is released
        // unchanged.
        let filled = ParserPool.events.withParser { EventDocument(held.body, with: $0).map { media.filled($0) } }
        guard let filled else { return MediaRelease(held, body: nil, files: []) }
        let body = held.transformRoute.map { setup.transform(filled, $0) } ?? filled
        return MediaRelease(held, body: body, files: media.files)
    }
}

// Logs name services by their description; the default one would print every stored value.
extension MediaService: CustomStringConvertible {
    package var description: String { "MediaService" }
}
