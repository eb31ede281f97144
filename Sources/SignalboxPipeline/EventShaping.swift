import SignalboxJSON
import SignalboxModel
package import SignalboxRouting

/// What shapes events on their way into the queue, with parsers of its own: those of the events are in use meanwhile.
package struct EventShaping: Sendable {
    package let shaper: EventShaper
    private let parsers = ParserPool.forEvents()

    /// `tokens`: names values as it names device tokens.
    package init(tokens: TokenHash, counts: RouteCounts = RouteCounts()) {
        shaper = EventShaper(counts: counts) { tokens.name(of: $0) }
    }

    /// The event as a target gets it; nil where that is as it is.
    func shaped(_ event: [UInt8], for target: RouteTable.Target, awaitsMedia: Bool) -> [UInt8]? {
        guard target.shape != nil else { return nil }
        return parsers.withParser { shaper.shaped(event, for: target, awaitsMedia: awaitsMedia, with: $0) }
    }

    /// Counts events that are on disk, but for repeats, which are not.
    func count(_ events: [RoutedEvent], without duplicates: [Int: String]) {
        for (position, event) in events.enumerated() where duplicates[position] == nil {
            shaper.counts.countMatch(of: event.routes)
            for follower in event.followers { shaper.counts.countMatch(of: follower.routes) }
        }
    }
}
