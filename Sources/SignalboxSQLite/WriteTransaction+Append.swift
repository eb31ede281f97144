import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// Appends. All rows of a request are in one transaction, so a request is stored as a whole or not at all.
extension WriteTransaction {
    /// Stores the events of a request with their deliveries. Returns the positions of duplicates, with the id of the
    /// earlier event. A request that repeats an earlier one stores no event: it returns the stored answer, or
    /// `conflicting` for another body. Events are checked one after the other, so a request may repeat its own
    /// events.
    mutating func append(_ events: [RoutedEvent], _ request: IdempotentRequest?) throws -> AppendResult {
        if let request,
            let earlier = try db.result(ofKey: request.key, digest: request.digest, from: request.source, at: now)
        {
            return earlier
        }
        var duplicates: [Int: String] = [:]
        for (position, event) in events.enumerated() {
            if let earlier = try duplicate(event) {
                duplicates[position] = earlier
            } else if try insert(event) {
                for follower in event.followers { try insert(follower) }
            } else {
                duplicates[position] = event.event.id.description
            }
        }
        if let request { try remember(request, request.answer(duplicates)) }
        return .appended(duplicates: duplicates)
    }

    /// Writes the event, its in-app messages, its category, its requests for files, its variants and its deliveries.
    /// Returns false, and writes no row, for an event with a lasting id that is stored already. Throws for an id that
    /// is in use unless the event has a lasting id. Followers are inserted by the caller.
    @discardableResult
    mutating func insert(_ routed: RoutedEvent) throws -> Bool {
        let sequence = try rows.nextEvent(in: db)
        guard try rows.add(NewEvent(sequence: sequence, routed: routed), in: db) else { return false }
        for message in routed.messages { try registerFromPayload(message) }
        if routed.event.keeping != nil { try keepPayload(of: routed, sequence) }
        if let about = routed.about {
            try db.run("INSERT INTO reports (about, event) VALUES (?, ?)", [about, sequence])
        }
        if let category = routed.event.category { try see(category) }
        if !routed.files.isEmpty { try use(routed.files, by: sequence) }
        var isReady: Bool?
        if let media = routed.media {
            let isHeld = routed.deliveries.contains { $0.mediaUntil != nil }
            isReady = try request(media.urls, for: sequence, isHeld: isHeld)
        }
        guard !routed.deliveries.isEmpty else { return true }
        let variants = try routed.variants.map { try insert(variant: $0, of: sequence) }
        for position in routed.deliveries.indices {
            try insert(position, of: routed, sequence, variants: variants, isReady: isReady)
        }
        return true
    }

    /// `position`: the index of the delivery in the event. `isReady`: whether all files of the event are settled; nil
    /// when it has none. Leases the delivery in memory when it is due, its destination is active and its lane has room.
    /// Otherwise the delivery waits in the file, and its lane is woken to read it. Throws only errors of the database:
    /// input was checked before.
    private mutating func insert(
        _ position: Int, of routed: RoutedEvent, _ sequence: Int64, variants: [Int64], isReady: Bool?
    ) throws {
        let order = routed.deliveries[position]
        let destination = order.destination
        let body = order.variant.map { routed.variants[$0] } ?? routed.event.body
        let until = isReady == nil ? nil : order.mediaUntil
        // An event that was accepted before the clock was set back is due at once.
        var due = order.notBefore.map { max($0, routed.event.acceptedAt) } ?? min(routed.event.acceptedAt, now)
        if let until {
            let grace = TimeInterval(StoreLimits.releaseGrace) / 1000
            due = max(due, until + grace, now + grace)
        }
        let delivery = try rows.nextDelivery(in: db)
        // An idle destination begins no attempts.
        let isIdle = accept(destination)
        var isFresh = false
        if !isIdle, until == nil, order.notBefore.map({ $0 <= now }) ?? true {
            var lease = Lease(
                delivery: delivery, event: routed.event.id.description, destination: destination, attempts: 0,
                body: body, payload: routed.payload, notAfter: order.notAfter, holder: file.holder)
            lease.readyAt = due
            isFresh = file.lanes.withHandOff { [lease] in $0.reserve(lease) }
            if isFresh { effects.fresh.append(lease) }
        }
        try rows.add(
            NewDelivery(
                id: delivery, event: sequence, orders: routed.deliveries, position: position, due: due,
                isBegun: isFresh, variant: order.variant.map { variants[$0] }), in: db)
        if let until, let isReady {
            try hold(delivery, of: sequence, until: until, isReady: isReady, transformRoute: order.transformRoute)
            effects.expected[destination] = min(effects.expected[destination] ?? due, due)
        } else if !isFresh {
            effects.spilled.insert(destination)
        }
    }

    /// Keeps a payload for operators, unless it is stored with its event for a destination.
    private func keepPayload(of routed: RoutedEvent, _ sequence: Int64) throws {
        guard let keeping = routed.event.keeping, let payload = routed.event.payload, routed.payload == nil,
            keeping == .withEvent || !routed.deliveries.isEmpty
        else { return }
        try RowStatement(db, sql: "INSERT INTO payloads (event, lasts, payload) VALUES (?, ?, ?)").run { row in
            row.bind(sequence)
            row.bind(keeping == .withEvent ? 1 : 0)
            row.bind(payload)
        }
    }

    /// Returns the row of the variant. Equal variants of one event are made once by the caller. Variants are written
    /// at once, because deliveries refer to their rows.
    func insert(variant: [UInt8], of event: Int64) throws -> Int64 {
        try RowStatement(db, sql: "INSERT INTO variants (event, body) VALUES (?, ?)").run { row in
            row.bind(event)
            row.bind(variant)
        }
        return db.lastInsertedRowID
    }

    // MARK: Repeats

    /// Replaces an expired entry with the same key. Commits with the events of the request, so an answer is never
    /// stored without them.
    private func remember(_ request: IdempotentRequest, _ answer: StoredAnswer) throws {
        try db.run(
            "INSERT OR REPLACE INTO requests (source, key, digest, answer, status, at) VALUES (?, ?, ?, ?, ?, ?)",
            [
                request.source.name, request.key, Data(request.digest), Data(answer.body), answer.status,
                now.milliseconds,
            ])
    }

    /// The id of the event that this one repeats. Records the event as the first when it repeats none. A repeat
    /// causes no write. The window ends at `dedupe.since`; an older entry is replaced.
    private func duplicate(_ routed: RoutedEvent) throws -> String? {
        guard let dedupe = routed.dedupe else { return nil }
        // No source is named "*".
        let source = dedupe.scope == .all ? "*" : routed.event.source.name
        let earlier = try db.row(
            "SELECT event FROM duplicates WHERE source = ? AND key = ? AND at > ?",
            [source, dedupe.key, dedupe.since.milliseconds])
        if let earlier { return try earlier.text(0) }
        try db.run(
            "INSERT OR REPLACE INTO duplicates (source, key, event, at) VALUES (?, ?, ?, ?)",
            [source, dedupe.key, routed.event.id.description, routed.event.acceptedAt.milliseconds])
        return nil
    }

    // MARK: Categories

    /// Compares the absolute value, so that not every event is a write when the clock was set back.
    private static let seeCategory = """
        INSERT INTO categories (identifier, definition, first_seen, last_seen) VALUES (?1, ?2, ?3, ?3)
        ON CONFLICT (identifier) DO UPDATE SET definition = excluded.definition, last_seen = excluded.last_seen
            WHERE definition != excluded.definition OR abs(last_seen - excluded.last_seen) >= \(StoreLimits.usedEvery)
        """

    /// Records that an event has these buttons. A known category that was seen within the hour costs no statement. If
    /// its name identifies its definition, the definition is not written to bytes either. A new definition replaces the
    /// old one. The identifier counts as known before the commit; a failed commit takes that back. Called for events
    /// that are stored, not for duplicates.
    private mutating func see(_ category: DefinedCategory) throws {
        if category.isNamedByDefinition, file.categories.contains(category.identifier, at: now) { return }
        guard let record = category.record, !file.categories.contains(record, at: now) else { return }
        let time = now.milliseconds
        try RowStatement(db, sql: Self.seeCategory).run { row in
            row.bind(record.identifier)
            row.bind(record.definition)
            row.bind(time)
        }
        file.categories.insert(record, at: now)
        effects.categories.append(record.identifier)
    }
}

extension Database {
    /// The result of an earlier request with this key and source within ``StoreLimits/requestMemory``; nil when there
    /// is none. Throws ``DamagedValue`` for an answer that is not a status and bytes.
    func result(ofKey key: String, digest: [UInt8], from source: SourceName, at now: Date) throws -> AppendResult? {
        let row = try row(
            "SELECT digest, status, answer FROM requests WHERE source = ? AND key = ? AND at > ?",
            [source.name, key, (now - StoreLimits.requestMemory).milliseconds])
        guard let row else { return nil }
        guard try row.bytes(0) == digest else { return .conflicting }
        return .repeated(StoredAnswer(status: try row.httpStatus(1), body: try row.bytes(2)))
    }
}
