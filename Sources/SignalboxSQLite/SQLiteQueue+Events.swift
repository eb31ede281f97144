import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

/// Stored events as operators see them.
extension SQLiteQueue {
    /// Walks down the primary key, through the period of the filter. The conditions on columns are evaluated in SQL;
    /// bodies are read for rows that meet them, and only if the filter tests bodies. One snapshot.
    package func eventPage(
        _ filter: EventFilter, limit: Int, examining rows: Int
    ) async throws(StoreError) -> StorePage<EventRecord> {
        try await file.read { db in
            let (condition, arguments) = filter.sql
            let body = filter.matches == nil ? "NULL" : "CASE WHEN \(condition) THEN body END"
            let start = try db.start(of: filter.acceptedSince)
            let end = min(try db.end(of: filter.acceptedBefore), filter.before ?? .max)
            let found = try BoundedScan(
                "SELECT seq, (\(condition)), \(body) FROM events e WHERE seq > ? AND seq < ? ORDER BY seq DESC",
                arguments + (filter.matches == nil ? [] : arguments) + [start, end], limit: limit, examining: rows,
                in: db, where: filter.matches.map { matches in { row in matches(try row.bytes(2)) } })
            var (records, bytes): ([EventRecord], Int) = ([], 0)
            for (position, number) in found.ids.enumerated() {
                guard let record = try db.event("seq = ?", [number]) else { continue }
                records.append(record)
                bytes += record.body.count
                guard bytes < StoreLimits.eventPageBytes || position == found.ids.count - 1 else {
                    return StorePage(records: records, next: number, isComplete: false)
                }
            }
            return StorePage(records: records, next: found.next, isComplete: found.isComplete)
        }
    }

    /// Two look-ups: the event by its id, and its deliveries by its number. Throws for an event that cannot be read.
    package func eventRecord(_ id: String) async throws(StoreError) -> EventRecord? {
        try await file.read { try $0.event("id = ?", [id]) }
    }

    /// Finds events that were stored since the table of reports exists. Leaves out reports that were removed since.
    package func reports(onEvent id: String, limit: Int) async throws(StoreError) -> [EventRecord] {
        try await file.read { db in
            try db.rows("SELECT event FROM reports WHERE about = ? ORDER BY event LIMIT ?", [id, limit])
                .compactMap { try db.event("seq = ?", [try $0.number(0)]) }
        }
    }

    /// Reads the payload that is stored with the event, for a destination, before the one that is kept for operators.
    /// Nil for an unknown event, and if neither is stored any longer.
    package func payload(ofEvent id: String) async throws(StoreError) -> [UInt8]? {
        try await file.read { db in
            try db.row(
                """
                SELECT coalesce(payload, (SELECT payload FROM payloads WHERE event = e.seq)) FROM events e
                WHERE id = ?
                """, [id])?.optionalBytes(0)
        }
    }

    /// In the order of the URLs.
    package func mediaURLs(named urls: [String]) async throws(StoreError) -> [MediaURLRecord] {
        try await file.read { db in
            try urls.compactMap { url in
                try db.row("SELECT \(MediaURLRecord.columns) FROM media WHERE url = ?", [url])
                    .map { try MediaURLRecord($0) }
            }
        }
    }

    /// Joins a group of writes, so that it waits for a commit as senders do.
    package func send(_ order: ManualDelivery, as action: OperatorAction?) async throws(StoreError) -> ManualResult {
        guard case .sent(let result) = try await commits.write(.send(order, action)) else {
            preconditionFailure("The write is not a manual delivery.")
        }
        return result
    }

    /// Forgets payloads that were kept until their deliveries ended. A dead delivery can be retried, so its payload
    /// stays.
    func forgetPayloads(pause: () async -> Void) async throws(StoreError) {
        let step = 500
        var position: Int64? = 0
        while let start = position {
            position = try await write { db, _ in
                let rows = try db.rows(
                    """
                    SELECT event, EXISTS (
                        SELECT 1 FROM deliveries WHERE event = p.event AND state IN ('waiting', 'dead'))
                    FROM payloads p WHERE lasts = 0 AND event > ? ORDER BY event LIMIT ?
                    """, [start, step])
                for row in rows where try !row.flag(1) {
                    try db.run("DELETE FROM payloads WHERE event = ?", [try row.number(0)])
                }
                guard rows.count == step, let last = rows.last else { return nil }
                return try last.number(0).advanced(beyond: start, in: "payloads")
            }
            if position != nil { await pause() }
        }
    }
}

extension Database {
    /// The first event that meets a condition over `events e`, with the numbers of its deliveries.
    fileprivate func event(_ condition: String, _ arguments: StatementArguments) throws -> EventRecord? {
        let row = try row(
            """
            SELECT seq, id, source, subject, accepted_at, body,
                payload IS NOT NULL OR EXISTS (SELECT 1 FROM payloads WHERE event = e.seq)
            FROM events e WHERE \(condition)
            """, arguments)
        guard let row else { return nil }
        let number = try row.number(0)
        let counts = try rows(
            "SELECT state, count(*) FROM deliveries WHERE event = ? GROUP BY state", [number]
        ).reduce(into: [DeliveryRecord.State: Int]()) { counts, row in counts[try row.word(0)] = try row.count(1) }
        return EventRecord(
            number: number, id: try row.eventID(1), source: SourceName(try row.text(2)), subject: try row.text(3),
            acceptedAt: try row.date(4), body: try row.bytes(5), deliveries: counts, hasPayload: try row.flag(6))
    }
}

extension Database {
    /// The number after which the events since a time begin; `Int64.min` without a time. See ``AcceptanceSearch``.
    fileprivate func start(of since: Date?) throws -> Int64 {
        try since.flatMap { try number(AcceptanceSearch.start(since: "?"), [$0.milliseconds]) } ?? .min
    }

    /// The number before which the events until a time end; `Int64.max` without a time. See ``AcceptanceSearch``.
    fileprivate func end(of until: Date?) throws -> Int64 {
        try until.flatMap { try number(AcceptanceSearch.end(until: "?"), [$0.milliseconds]) } ?? .max
    }

    /// The number after which the deliveries of events since a time begin: the last one that was made with an older
    /// event. An operator may order a delivery of an older event later.
    func lastDelivery(since time: Date?) throws -> Int64 {
        let start = try start(of: time)
        guard start > .min else { return start }
        return try number(
            "SELECT id FROM deliveries WHERE event <= ? AND manual = 0 ORDER BY event DESC, id DESC LIMIT 1", [start]
        ) ?? .min
    }
}

extension EventFilter {
    /// A condition over `events e` without the bounds of the page. A subject without a slash has neither vendor nor
    /// kind.
    fileprivate var sql: (condition: String, arguments: StatementArguments) {
        var conditions = SQLConditions()
        conditions.add("substr(subject, 1, instr(subject, '/') - 1) = ?", vendor)
        conditions.add("instr(subject, '/') > 0 AND substr(subject, instr(subject, '/') + 1) = ?", kind)
        conditions.add("source = ?", source?.name)
        conditions.add("accepted_at >= ?", acceptedSince?.milliseconds)
        conditions.add("accepted_at < ?", acceptedBefore?.milliseconds)
        if isUnrouted { conditions.add("NOT EXISTS (SELECT 1 FROM deliveries WHERE event = e.seq)") }
        return conditions.sql
    }
}
