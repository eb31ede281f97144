package import SignalboxNotification

/// The events of one request in groups that count alike, so that counters are looked up once for each group instead of
/// once for each event. Followers are among them.
package struct EventTally: Sendable {
    /// Events with the same source, vendor, kind and routes.
    struct Group: Sendable {
        /// The first of them.
        let first: RoutedEvent
        fileprivate(set) var count = 1
        /// Of the vendor. Most groups differ in it, and it is compared faster than the names.
        fileprivate let mark: Int

        fileprivate init(_ event: RoutedEvent) { (first, mark) = (event, event.event.vendor.mark) }

        fileprivate func hasAlike(_ other: RoutedEvent) -> Bool {
            // Not held in constants, which would be copies of whole events.
            first.event.vendor == other.event.vendor && first.event.kind == other.event.kind
                && first.event.source == other.event.source && first.event.isOfPayload == other.event.isOfPayload
                && first.routes == other.routes
        }
    }

    /// An event is compared with this many groups, so that the time for a request grows with its events.
    static let mostCompared = 128

    /// In the order of their first events. Groups beyond ``mostCompared`` may be alike.
    private(set) var groups: [Group] = []
    /// Events with warnings.
    private(set) var warned: [RoutedEvent] = []
    /// Events that the live view may show.
    private(set) var sampled: [RoutedEvent] = []
    /// All events.
    private(set) var count = 0

    /// `duplicates`: positions of events that repeat an earlier one and were not stored.
    package init(_ events: [RoutedEvent], without duplicates: [Int: String]) {
        for (position, event) in events.enumerated() where duplicates.isEmpty || duplicates[position] == nil {
            add(event)
        }
    }

    private mutating func add(_ event: RoutedEvent) {
        count += 1
        addToGroup(event)
        if !event.event.warnings.isEmpty { warned.append(event) }
        if !event.event.sampling.isPassed { sampled.append(event) }
        for follower in event.followers { add(follower) }
    }

    /// Compares with the newest groups first, because neighbours are often alike.
    private mutating func addToGroup(_ event: RoutedEvent) {
        let mark = event.event.vendor.mark
        var index = groups.count
        let end = max(0, index - Self.mostCompared)
        while index > end {
            index -= 1
            if groups[index].mark == mark, groups[index].hasAlike(event) {
                groups[index].count += 1
                return
            }
        }
        groups.append(Group(event))
    }
}

extension Event {
    /// The codes of its warnings, each once.
    var warningCodes: [String] { warnings.count == 1 ? warnings : Array(Set(warnings)) }
}

extension Event.Sampling {
    /// Whether the event is only counted.
    fileprivate var isPassed: Bool { if case .passed = self { true } else { false } }
}
