import SignalboxNotification
import SignalboxStore

/// The events of a group of appends that repeat an earlier event by their key of `dedupe`, of this group or stored.
/// The window of an event ends at `dedupe.since`; the entry of an older event is replaced.
///
/// Adding a key that another transaction has added waits for the end of that transaction, so that one of two equal
/// events that arrive at two nodes at once is a duplicate.
struct RepeatedEvents {
    private typealias Key = SourceKey

    /// The event that later ones repeat.
    private struct Entry: Equatable {
        /// The id in the form of the API.
        let event: String
        /// When that event was accepted, in milliseconds since 1970.
        let at: Int64

        init(_ event: Event) { (self.event, at) = (event.id.description, event.acceptedAt.milliseconds) }

        init(event: String, at: Int64) { (self.event, self.at) = (event, at) }
    }

    /// For each event the id of the one that it repeats; nil for none. Empty if no event has a key.
    private(set) var earlier: [String?] = []
    /// Statements that replace expired entries, for the end of the transaction.
    private(set) var statements: [PostgresStatement] = []

    /// Whether no event has a key.
    var isEmpty: Bool { earlier.isEmpty }

    /// One round trip if any event has a key, none otherwise.
    init(among events: [AppendedEvent], in transaction: PostgresTransaction) throws {
        var first: [Key: Entry] = [:]
        for event in events {
            guard let dedupe = event.routed.dedupe else { continue }
            let key = Key(dedupe, of: event.routed.event)
            if first[key] == nil { first[key] = Entry(event.routed.event) }
        }
        guard !first.isEmpty else { return }
        let stored = try Self.add(first, in: transaction)
        var entries: [Key: Entry] = stored.filter { !$0.value.isNew }.mapValues(\.entry)
        earlier = events.map { (event: AppendedEvent) -> String? in
            guard let dedupe = event.routed.dedupe else { return nil }
            let key = Key(dedupe, of: event.routed.event)
            if let entry = entries[key], entry.at > dedupe.since.milliseconds { return entry.event }
            entries[key] = Entry(event.routed.event)
            return nil
        }
        let changed = entries.filter { $0.value != stored[$0.key]?.entry }
        if !changed.isEmpty { statements = [Self.replace(changed)] }
    }

    /// Adds entries for keys without one; returns all entries, locked until the commit.
    private static func add(
        _ first: [Key: Entry], in transaction: PostgresTransaction
    ) throws -> [Key: (entry: Entry, isNew: Bool)] {
        let rows = first.sorted { $0.key < $1.key }
        let (sources, keys) = SourceKey.columns(of: rows.map(\.key))
        let results = try transaction.run(all: [
            PostgresStatement(
                """
                INSERT INTO duplicates (source, key, event, at)
                SELECT source, key, event::uuid, at FROM unnest($1, $2, $3, $4) AS new (source, key, event, at)
                ON CONFLICT (source, key) DO UPDATE SET at = excluded.at WHERE false
                RETURNING source, key
                """, [sources, keys, .texts(rows.map(\.value.event)), .numbers(rows.map(\.value.at))]),
            PostgresStatement(
                """
                SELECT source, key, d.event::text, d.at
                FROM unnest($1, $2) AS new (source, key) JOIN duplicates d USING (source, key)
                """, [sources, keys]),
        ])
        let added = Set(try results[0].map { try Key($0) })
        return Dictionary(
            try results[1].map { row in
                let key = try Key(row)
                return (key, (Entry(event: try row.text(2), at: try row.number(3)), added.contains(key)))
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The keys are those of this transaction: their rows are locked. The statement runs at the end of the transaction,
    /// in the round trip of the ledger.
    private static func replace(_ entries: [Key: Entry]) -> PostgresStatement {
        let rows = Array(entries)
        let (sources, keys) = SourceKey.columns(of: rows.map(\.key))
        return PostgresStatement(
            """
            UPDATE duplicates d SET event = new.event::uuid, at = new.at
            FROM unnest($1, $2, $3, $4) AS new (source, key, event, at)
            WHERE d.source = new.source AND d.key = new.key
            """,
            [sources, keys, .texts(rows.map(\.value.event)), .numbers(rows.map(\.value.at))])
    }
}

extension SourceKey {
    /// The key of an event's entry.
    fileprivate init(_ dedupe: RoutedEvent.Dedupe, of event: Event) {
        // No source is named "*".
        self.init(source: dedupe.scope == .all ? "*" : event.source.name, key: dedupe.key)
    }
}
