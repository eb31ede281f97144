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

    /// Appends an entry whose position is behind those of all others, and drops the oldest ones beyond the limits.
    mutating func append(_ entry: RecentEntry) {
        bytes += entry.bytes
        if entry.kind == .event { events.append(entry) } else { others.append(entry) }
        trim()
    }

    /// The first entries behind a position, in order. `events`, `others`: which of them.
    func batch(after order: Int64, upTo most: Int, events hasEvents: Bool, others hasOthers: Bool) -> [RecentEntry] {
        var left = hasEvents ? events[Self.start(behind: order, in: events)...] : events[events.endIndex...]
        var right = hasOthers ? others[Self.start(behind: order, in: others)...] : others[others.endIndex...]
        var batch: [RecentEntry] = []
        while batch.count < most {
            guard let next = Self.first(left, right) else { break }
            batch.append(next)
            if next.kind == .event { left = left.dropFirst() } else { right = right.dropFirst() }
        }
        return batch
    }

    /// The newest events, the newest first.
    func newestEvents(upTo most: Int) -> [RecentEvent] {
        events.suffix(most).reversed().compactMap { entry in
            if case .event(let event) = entry.item { event } else { nil }
        }
    }

    private static func first(
        _ left: Deque<RecentEntry>.SubSequence, _ right: Deque<RecentEntry>.SubSequence
    ) -> RecentEntry? {
        guard let one = left.first, let other = right.first else { return left.first ?? right.first }
        return one.position.order < other.position.order ? one : other
    }

    /// The index of the first entry behind a position.
    private static func start(behind order: Int64, in entries: Deque<RecentEntry>) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].position.order > order { high = middle } else { low = middle + 1 }
        }
        return low
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
