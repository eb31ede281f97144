import SignalboxJSON
import SignalboxNotification
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
        // Neighbours mostly take the same way.
        var (routes, times): ([String], Int) = ([], 0)
        func count(_ event: RoutedEvent) {
            if event.routes != routes {
                shaper.counts.countMatch(of: routes, times: times)
                (routes, times) = (event.routes, 0)
            }
            times += 1
            for follower in event.followers { count(follower) }
        }
        for (position, event) in events.enumerated() where duplicates.isEmpty || duplicates[position] == nil {
            count(event)
        }
        shaper.counts.countMatch(of: routes, times: times)
    }
}
