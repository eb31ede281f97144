import SignalboxNotification
import SignalboxStore

extension AppendBatch {
    /// Entries of an index are limited to 2,700 bytes. Apps do not use names of this length.
    private static let longestIdentifier = 1000

    /// The statement that records the buttons of events. A category that this process recorded within the hour costs
    /// no statement; if its name identifies its definition, the definition is not written to bytes either. The last
    /// definition of the batch replaces the stored one.
    mutating func categories(of events: [StoredAppend]) -> [PostgresStatement] {
        var new = ExactTextMap<CategoryRecord>()
        let now = transaction.now
        for event in events {
            guard let category = event.routed.event.category,
                category.identifier.utf8.count <= Self.longestIdentifier
            else { continue }
            let known = new[category.identifier] ?? seen[category.identifier]
            if category.isNamedByDefinition {
                if known != nil || store.categories.contains(category.identifier, at: now) { continue }
            }
            guard let record = category.record else { continue }
            if let known {
                if known == record { continue }
            } else if store.categories.contains(record, at: now) {
                continue
            }
            new[record.identifier] = record
        }
        guard !new.isEmpty else { return [] }
        seen.merge(new)
        effects.seen += new.values.map { ($0, now) }
        let rows = new.inOrder().map(\.value)
        return [
            PostgresStatement(
                Self.see, [.texts(rows.map(\.identifier)), .manyBytes(rows.map(\.definition)), .time(now)])
        ]
    }

    /// Compares the absolute value, so that not every event is a write when the clock was set back. `$3`: the time in
    /// milliseconds since 1970. An equal definition within the hour locks its row and changes nothing.
    private static let see = """
        INSERT INTO categories AS c (identifier, definition, last_seen)
        SELECT identifier, definition, $3 FROM unnest($1, $2) AS new (identifier, definition)
        ON CONFLICT (identifier) DO UPDATE SET definition = excluded.definition, last_seen = excluded.last_seen
            WHERE c.definition <> excluded.definition
                OR abs(c.last_seen - excluded.last_seen) >= \(StoreLimits.usedEvery)
        """
}
