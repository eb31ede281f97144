// The bound of a ledger.
extension Ledger {
    /// The changes to a ledger's rows.
    typealias Pruned = (removed: [OfferID], changed: [Display])

    /// Removes displays before an instant. Beyond ``Bounds/history`` rows it merges the oldest ones of one message and
    /// session, then those of one message that belong to no running session, then any of one message. A merged display
    /// counts from its last time, so a limit may open late, never early; only a session of a device may count fewer,
    /// if more than ``Bounds/history`` devices have one. Displays of more than ``Bounds/mostHistory`` different
    /// messages lose the oldest ones. Takes time in proportion to the displays. Returns the offers whose rows are
    /// gone, and the displays whose rows changed.
    mutating func prune(before instant: Instant) -> Pruned {
        let old = displays.prefix { $0.at < instant }.map(\.offer)
        displays.removeFirst(old.count)
        guard displays.count > Bounds.history else { return (old, []) }
        var pruned: (removed: [OfferID], changed: [OfferID: Display]) = (old, [:])
        merge(&pruned) { MergeKey($0, device: $0.device, session: $0.session) }
        if displays.count > Bounds.history {
            let running = lastSessions()
            merge(&pruned) { running[$0.device] == $0.session ? nil : MergeKey($0) }
        }
        if displays.count > Bounds.history { merge(&pruned) { MergeKey($0) } }
        let surplus = displays.count - Bounds.mostHistory
        if surplus > 0 {
            for display in displays.prefix(surplus) {
                pruned.removed.append(display.offer)
                pruned.changed[display.offer] = nil
            }
            displays.removeFirst(surplus)
        }
        return (pruned.removed, pruned.changed.values.sorted { ($0.at, $0.offer) < ($1.at, $1.offer) })
    }

    /// The last session of each device that has a display.
    private func lastSessions() -> [DeviceID: Int] {
        displays.reduce(into: [:]) { $0[$1.device] = max($0[$1.device] ?? $1.session, $1.session) }
    }

    /// Merges displays of equal keys, the oldest first, until three quarters of ``Bounds/history`` are left. A display
    /// without a key stays.
    private mutating func merge(
        _ pruned: inout (removed: [OfferID], changed: [OfferID: Display]), _ key: (Display) -> MergeKey?
    ) {
        var next = [Int?](repeating: nil, count: displays.count)
        var newest: [MergeKey: Int] = [:]
        for index in displays.indices.reversed() {
            if let key = key(displays[index]) { next[index] = newest.updateValue(index, forKey: key) }
        }
        var surplus = displays.count - Bounds.history * 3 / 4
        var kept: [Display] = []
        kept.reserveCapacity(displays.count)
        for index in displays.indices {
            let display = displays[index]
            guard surplus > 0, let later = next[index] else {
                kept.append(display)
                continue
            }
            surplus -= 1
            displays[later].count += display.count
            pruned.changed[displays[later].offer] = displays[later]
            pruned.changed[display.offer] = nil
            pruned.removed.append(display.offer)
        }
        displays = kept
    }
}

/// Displays with equal keys may be merged: every limit counts them alike, apart from their time.
private struct MergeKey: Hashable {
    private let message: MessageID
    private let vendor: Vendor
    private let isExempt: Bool
    private let namedLimits: [String]
    private let device: DeviceID?
    private let session: Int?

    /// Without a device and a session, displays of all sessions are alike.
    init(_ display: Ledger.Display, device: DeviceID? = nil, session: Int? = nil) {
        message = display.message
        vendor = display.vendor
        isExempt = display.isExempt
        namedLimits = display.namedLimits
        (self.device, self.session) = (device, session)
    }
}
