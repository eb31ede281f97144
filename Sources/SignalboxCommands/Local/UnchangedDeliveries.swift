import SignalboxNotification
package import SignalboxStore

/// The deliveries that a retry or a purge names and does not change, with the reasons. Pure.
package struct UnchangedDeliveries: Sendable, Equatable {
    /// The numbers by reason, ascending.
    package let numbers: [String: [Int64]]

    /// `named`: the numbers on the command line. `found`: those deliveries, as far as they exist. `selected`: the
    /// numbers that meet the other conditions.
    package init(_ kind: BulkChange, named: [Int64], found: [DeliveryRecord], selected: Set<Int64>) {
        let records = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
        var numbers: [String: [Int64]] = [:]
        for id in Set(named).sorted() {
            if let reason = Self.reason(kind, records[id], isSelected: selected.contains(id)) {
                numbers[reason, default: []].append(id)
            }
        }
        self.numbers = numbers
    }

    /// Nil if the delivery can be changed. Otherwise a phrase; ``numbers`` are grouped by it.
    private static func reason(_ kind: BulkChange, _ record: DeliveryRecord?, isSelected: Bool) -> String? {
        guard let record else { return "unknown" }
        guard isSelected else { return "excluded by the conditions" }
        switch (kind, record.state) {
        case (.retry, .delivered), (.retry, .expired): return record.state.rawValue
        case (.retry, .waiting) where record.mediaUntil != nil: return "waiting for files"
        case (.purge, .waiting) where record.isInProgress: return "an attempt is in progress"
        default: return nil
        }
    }

    /// The number of deliveries that a purge by conditions left, and the remedy; nil for 0.
    package static func inProgress(_ count: Int) -> String? {
        guard count > 0 else { return nil }
        return """
            Not removed: \(Counted.words(count, "delivery")) whose attempt has begun, or that a gateway has in memory. \
            Pause the destination, then repeat. With a single gateway, you can purge over HTTP instead.
            """
    }

    /// `Not requeued: 2, 3 (delivered); 99 (unknown).`; nil if there are none. `verb`: such as `requeued`.
    package func sentence(_ verb: String) -> String? {
        guard !numbers.isEmpty else { return nil }
        let parts = numbers.sorted { ($0.value.first ?? 0) < ($1.value.first ?? 0) }.map { reason, ids in
            "\(ids.map { String($0) }.joined(separator: ", ")) (\(reason))"
        }
        return "Not \(verb): \(parts.joined(separator: "; "))."
    }
}
