import SignalboxNotification
import SignalboxStore

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
