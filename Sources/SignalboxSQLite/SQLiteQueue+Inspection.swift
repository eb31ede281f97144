import GRDB
package import SignalboxNotification
package import SignalboxStore

/// The queue as operators see it.
extension SQLiteQueue {
    /// The newest first. A filter by state or destination may read more rows than it returns. One statement: each
    /// delivery with its event, its wait and its predecessor. Damaged rows throw, so one of them hides the page that
    /// it is on.
    package func deliveries(_ filter: DeliveryFilter, limit: Int) async throws(StoreError) -> [DeliveryRecord] {
        let records = try await file.read { try Self.deliveries(filter, limit: limit, in: $0) }
        return file.lanes.withClaims(records, isOwner: isOwner)
    }

    /// Within a read transaction of the caller. Leaves out a delivery without its event, which only the audit reports.
    private static func deliveries(_ filter: DeliveryFilter, limit: Int, in db: Database) throws -> [DeliveryRecord] {
        let (condition, arguments) = filter.sql
        return try StoredRow.fetchAll(
            db,
            sql: """
                SELECT d.id, e.id, e.subject, d.destination, d.state, d.attempts, d.due, d.not_before, d.not_after,
                    e.accepted_at, d.begun > d.attempts,
                    (SELECT until FROM media_waits WHERE delivery = d.id AND d.begun = 0),
                    (SELECT min(id) FROM deliveries WHERE state = 'waiting' AND d.state = 'waiting'
                        AND destination = d.destination AND order_key = d.order_key AND id < d.id),
                    d.manual, started_at, duration, status, error, reason, remote, excerpt, NULL
                FROM deliveries d JOIN events e ON e.seq = d.event WHERE \(condition) AND d.id > ?
                ORDER BY d.id DESC LIMIT ?
                """, arguments: arguments + [try db.lastDelivery(since: filter.acceptedSince), limit]
        ).map { try DeliveryRecord($0) }
    }

    /// Walks down the primary key, or an index that the filter fits, and evaluates the other conditions row by row.
    /// Reads the whole rows of the matches only. One snapshot.
    package func deliveryPage(
        _ filter: DeliveryFilter, limit: Int, examining rows: Int
    ) async throws(StoreError) -> StorePage<DeliveryRecord> {
        try await file.read { [file, isOwner] db in
            let found = try BoundedScan(filter, limit: limit, examining: rows, in: db)
            let records =
                try found.ids.isEmpty
                ? [] : Self.deliveries(DeliveryFilter(ids: found.ids), limit: limit, in: db)
            return StorePage(
                records: file.lanes.withClaims(records, isOwner: isOwner), next: found.next,
                isComplete: found.isComplete)
        }
    }

    /// The last attempt is stored with its delivery, the earlier ones in a table of their own. Empty for an unknown
    /// delivery. A delivery without attempts whose first one was postponed has none.
    package func attempts(of delivery: Int64) async throws(StoreError) -> [AttemptRecord] {
        try await file.read { db in
            try db.rows(
                """
                SELECT number, \(AttemptRecord.columns) FROM attempts WHERE delivery = :id UNION ALL
                SELECT attempts, \(AttemptRecord.columns) FROM deliveries WHERE id = :id AND attempts > 0 ORDER BY 1
                """, ["id": delivery]
            ).compactMap { try AttemptRecord(number: $0.count(0), $0, from: 1) }
        }
    }

    /// Waiting deliveries whose scheduled time has not come. Reads all waiting deliveries.
    package func scheduledCount() async throws(StoreError) -> Int {
        let now = now.milliseconds
        return try await file.read { db in
            try db.count("SELECT count(*) FROM deliveries WHERE state = 'waiting' AND not_before > ?", [now])
        }
    }

    /// Reads every delivery. One snapshot; slow for a large queue.
    package func counts() async throws(StoreError) -> [DestinationName: [DeliveryRecord.State: Int]] {
        try await file.read { try $0.deliveryCounts() }
    }

    /// Counts rows, so it reads a whole index.
    package func eventCount() async throws(StoreError) -> Int {
        try await file.read { try $0.count("SELECT count(*) FROM events") }
    }

    /// Walks down the primary key. One snapshot.
    package func newestEvents(_ limit: Int, upTo bytes: Int) async throws(StoreError) -> [EventBody] {
        try await file.read { db in
            let rows = try StoredRow.fetchCursor(
                db, sql: "SELECT id, accepted_at, body FROM events ORDER BY seq DESC LIMIT ?", arguments: [limit])
            var (events, left): ([EventBody], Int) = ([], bytes)
            while left > 0, let row = try rows.next() {
                let event = EventBody(id: try row.eventID(0), acceptedAt: try row.date(1), body: try row.bytes(2))
                events.append(event)
                left -= event.body.count
            }
            return events
        }
    }

    /// Throws for an answer that is not a status and bytes.
    package func result(
        ofKey key: String, digest: [UInt8], from source: SourceName
    ) async throws(StoreError) -> AppendResult? {
        let now = now
        return try await file.read { try $0.result(ofKey: key, digest: digest, from: source, at: now) }
    }

    /// Variants that differ in more than their media are included. Nil for an unknown id. The payload is nil unless a
    /// destination wanted it.
    package func event(_ id: String) async throws(StoreError) -> StoredEvent? {
        try await file.read { db in
            guard let row = try db.row("SELECT seq, source, subject, body, payload FROM events WHERE id = ?", [id])
            else { return nil }
            let variants = try db.rows(
                "SELECT body FROM variants WHERE event = ? AND NOT plain ORDER BY id", [try row.number(0)])
            return StoredEvent(
                source: SourceName(try row.text(1)), subject: try row.text(2), body: try row.bytes(3),
                payload: try row.optionalBytes(4), variants: try variants.map { try $0.bytes(0) })
        }
    }

    // MARK: Categories

    /// Only the `limit` most recently seen are listed, in the order of their identifiers. Reads the most recent
    /// identifiers first, so the cost grows with `limit`.
    package func categories(
        limit: Int, after identifier: String?, upTo count: Int
    ) async throws(StoreError) -> [CategoryRecord] {
        try await file.read { db in
            try db.rows(
                """
                SELECT identifier, definition FROM (
                    SELECT identifier, definition FROM categories ORDER BY last_seen DESC, identifier LIMIT ?1
                ) WHERE ?2 IS NULL OR identifier > ?2 ORDER BY identifier LIMIT ?3
                """, [limit, identifier, count]
            ).map { CategoryRecord(identifier: try $0.text(0), definition: try $0.bytes(1)) }
        }
    }

    /// Nil for an identifier that no payload defined.
    package func category(_ identifier: String) async throws(StoreError) -> CategoryRecord? {
        try await file.read { db in
            try db.row("SELECT definition FROM categories WHERE identifier = ?", [identifier])
                .map { CategoryRecord(identifier: identifier, definition: try $0.bytes(0)) }
        }
    }
}

/// Counts that several readers share.
extension Database {
    /// Reads every delivery; for the audit and replays, not for metrics. Throws ``DamagedValue`` for an unknown
    /// state.
    func deliveryCounts() throws -> [DestinationName: [DeliveryRecord.State: Int]] {
        try rows("SELECT destination, state, count(*) FROM deliveries GROUP BY destination, state")
            .reduce(into: [:]) { counts, row in
                counts[DestinationName(try row.text(0)), default: [:]][try row.word(1)] = try row.count(2)
            }
    }

    /// 0 when there is no row.
    func count(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int {
        try row(sql, arguments)?.count(0) ?? 0
    }
}
