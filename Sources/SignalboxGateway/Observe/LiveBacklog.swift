import SignalboxNotification

/// The occurrences that one reader of the live view still has to receive: at most one second's worth of them. A pure
/// value: the caller reads the log and sends the frames.
///
/// When events arrive faster than the reader receives them, the group with the most pending frames loses its oldest
/// frame, so one event of a rare vendor passes among thousands of another. Each frame tells how many occurrences before
/// it are missing, so that for a reader without a pattern the frames and the missing ones add up to all that happened.
package struct LiveBacklog: Sendable {
    /// A frame to send.
    package struct Frame: Sendable {
        package let entry: RecentEntry
        /// Occurrences between the previous frame and this one that the reader does not receive.
        package internal(set) var dropped: Int
        fileprivate let group: String
    }

    private let kinds: Set<RecentEntry.Kind>
    private let most: Int
    /// In the order of their positions; at most ``most``.
    private var frames: [Frame] = []
    private var groups: [String: Int] = [:]
    /// Occurrences after the last frame.
    private var dropped = 0
    /// Everything up to here is a frame, is counted as dropped, or was not selected.
    package private(set) var position: RecentPosition

    /// `kinds`: those that the reader selected. `most`: the most pending frames. `position`: after which it begins.
    package init(_ kinds: Set<RecentEntry.Kind>, most: Int, after position: RecentPosition) {
        (self.kinds, self.most, self.position) = (kinds, max(1, most), position)
    }

    /// The number of pending frames.
    package var count: Int { frames.count }

    /// Appends the entries that were read after ``position``. `selects`: whether the reader receives an entry; called
    /// once for each entry of these kinds. Entries that were not selected are not missing.
    package mutating func append(_ reading: RecentLog.Reading, selects: (RecentEntry) -> Bool) {
        for entry in reading.entries where kinds.contains(entry.kind) { append(entry, selects: selects) }
        for kind in kinds { advance(kind, to: reading.position[kind]) }
        // Other kinds do not concern the reader; its next reading begins after the examined entries.
        for kind in RecentEntry.Kind.allCases { position[kind] = max(position[kind], reading.position[kind]) }
    }

    private mutating func append(_ entry: RecentEntry, selects: (RecentEntry) -> Bool) {
        let own = entry.kind
        // Counts missing occurrences of other kinds too: a reader that resumes after this frame does not receive them.
        for kind in kinds { advance(kind, to: entry.position[kind] - (kind == own ? 1 : 0)) }
        position[own] = entry.position[own]
        guard selects(entry) else { return }
        let group = entry.group
        frames.append(Frame(entry: entry, dropped: dropped, group: group))
        groups[group, default: 0] += 1
        dropped = 0
        if frames.count > most { drop() }
    }

    /// The oldest pending frame.
    package mutating func next() -> Frame? {
        guard !frames.isEmpty else { return nil }
        let frame = frames.removeFirst()
        leave(frame.group)
        return frame
    }

    /// Returns and resets the number of missing occurrences after the last frame; 0 while a frame is pending.
    package mutating func takeDropped() -> Int {
        guard frames.isEmpty else { return 0 }
        return exchange(&dropped, with: 0)
    }

    /// Counts the occurrences up to a number as missing.
    private mutating func advance(_ kind: RecentEntry.Kind, to number: Int64) {
        dropped += Int(max(0, number - position[kind]))
        position[kind] = max(position[kind], number)
    }

    /// Drops the oldest frame of the largest group; the oldest of all among groups of equal size.
    private mutating func drop() {
        let largest = groups.values.max() ?? 0
        guard let index = frames.firstIndex(where: { groups[$0.group] == largest }) else { return }
        let frame = frames.remove(at: index)
        leave(frame.group)
        let missing = frame.dropped + 1
        if index < frames.count { frames[index].dropped += missing } else { dropped += missing }
    }

    private mutating func leave(_ group: String) {
        groups[group, default: 0] -= 1
        if groups[group] == 0 { groups[group] = nil }
    }
}

extension RecentEntry {
    /// Frames of a group replace each other when a reader is too slow.
    // Not inlined: within a loop over entries, the optimiser of Swift 6.3.1 ends with an error.
    @inline(never) fileprivate var group: String {
        switch item {
        case .event(let event): "event " + event.vendor.name
        case .delivery(let delivery): "delivery \(delivery.destination.name) \(delivery.outcome.rawValue)"
        case .destination(let change): "destination " + change.name.name
        }
    }
}
