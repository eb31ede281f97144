import DequeModule

/// The newest occurrences, within limits. A value without a lock.
///
/// Events and all other occurrences have a ring each: a failing destination must not displace the events that
/// operators try patterns on.
struct RecentRing: Sendable {
    /// The most memory of all entries.
    static let mostBytes = 32 * 1024 * 1024

    /// The most entries of each ring; smaller limits take effect at once.
    var limit: Int { didSet { trim() } }
    private var events = Deque<RecentEntry>()
    private var others = Deque<RecentEntry>()
    private(set) var bytes = 0
    private let mostBytes: Int

    init(limit: Int, mostBytes: Int = Self.mostBytes) { (self.limit, self.mostBytes) = (limit, mostBytes) }

    var count: Int { events.count + others.count }

    /// Appends an entry whose position is after those of all others, and drops the oldest ones beyond the limits.
    mutating func append(_ entry: RecentEntry) {
        bytes += entry.bytes
        if entry.kind == .event { events.append(entry) } else { others.append(entry) }
        trim()
    }

    /// The first entries after a position, in order. `events`, `others`: which of them.
    func batch(after order: Int64, upTo most: Int, events hasEvents: Bool, others hasOthers: Bool) -> [RecentEntry] {
        let rings = (hasOthers ? [others] : []) + (hasEvents ? [events] : [])
        let found = rings.flatMap { $0[$0.start(behind: order, by: \.position.order)...].prefix(most) }
        return Array(found.sorted { $0.position.order < $1.position.order }.prefix(most))
    }

    /// The newest events, the newest first.
    func newestEvents(upTo most: Int) -> [RecentEvent] {
        events.suffix(most).reversed().compactMap { entry in
            if case .event(let event) = entry.item { event } else { nil }
        }
    }

    private mutating func trim() {
        while events.count > limit { dropEvent() }
        while others.count > limit { dropOther() }
        while bytes > mostBytes, count > 0 {
            if events.isEmpty { dropOther() } else { dropEvent() }
        }
    }

    private mutating func dropEvent() { bytes -= events.popFirst()?.bytes ?? 0 }

    private mutating func dropOther() { bytes -= others.popFirst()?.bytes ?? 0 }
}
