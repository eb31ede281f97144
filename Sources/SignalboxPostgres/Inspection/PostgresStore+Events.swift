import Foundation
import SignalboxNotification
package import SignalboxStore

/// Stored events as operators see them.
extension PostgresStore {
    /// Walks down the primary key, through the period of the filter. The conditions on columns are evaluated by the
    /// server; bodies are read for rows that meet them, and only if the filter tests bodies. One snapshot.
    package func eventPage(
        _ filter: EventFilter, limit: Int, examining rows: Int
    ) async throws(StoreError) -> StorePage<EventRecord> {
        try await readers.snapshot { connection in
            var walk = try EventWalk(filter, limit: limit, examining: rows, on: connection)
            while let wanted = walk.scan.wanted { try walk.step(wanted, on: connection) }
            // The last event may exceed the bytes of a page: without it, the page would be empty.
            var (numbers, bytes): ([Int64], Int) = ([], 0)
            for number in walk.scan.ids where bytes < StoreLimits.eventPageBytes {
                numbers.append(number)
                bytes += walk.sizes[number] ?? 0
            }
            let records = try connection.run(EventRecord.list, [.numbers(numbers)]).map { try EventRecord($0) }
            guard numbers.count < walk.scan.ids.count else {
                return StorePage(records: records, next: walk.scan.next, isComplete: walk.scan.isComplete)
            }
            return StorePage(records: records, next: numbers.last, isComplete: false)
        }
    }

    /// Nil without a round trip for a text that is not an id in the form of the gateway.
    package func eventRecord(_ id: String) async throws(StoreError) -> EventRecord? {
        guard let id = PostgresValue.eventID(id) else { return nil }
        return try await readers.first(
            """
            SELECT \(EventRecord.columns) FROM events e WHERE e.id = $1::text::uuid
            """, [id]
        ) { try EventRecord($0) }
    }

    /// The oldest first. Empty for an unknown id.
    package func reports(onEvent id: String, limit: Int) async throws(StoreError) -> [EventRecord] {
        guard let id = PostgresValue.eventID(id) else { return [] }
        return try await readers.rows(
            """
            SELECT \(EventRecord.columns) FROM (
                SELECT event FROM reports WHERE about = $1::text::uuid ORDER BY event LIMIT $2
            ) r JOIN events e ON e.seq = r.event ORDER BY e.seq
            """, [id, .number(Int64(limit))]
        ) { try EventRecord($0) }
    }

    /// Reads the payload that is stored with the event, for a destination, before the one that is kept for operators.
    /// Nil if neither is stored, or no longer.
    package func payload(ofEvent id: String) async throws(StoreError) -> [UInt8]? {
        guard let id = PostgresValue.eventID(id) else { return nil }
        return try await readers.first(
            """
            SELECT coalesce(payload, (SELECT payload FROM payloads WHERE event = e.seq)) FROM events e
            WHERE id = $1::text::uuid
            """, [id]
        ) { try $0.optionalBytes(0) }
    }

    /// Walks down the primary key. The server adds up the sizes first, so that only requested bodies are read.
    package func newestEvents(_ limit: Int, upTo bytes: Int) async throws(StoreError) -> [EventBody] {
        try await readers.rows(
            """
            WITH sizes AS (
                SELECT seq, sum(octet_length(body)) OVER (ORDER BY seq DESC) - octet_length(body) AS before
                FROM (SELECT seq, body FROM events ORDER BY seq DESC LIMIT $1) s
            )
            SELECT id::text, accepted_at, body FROM events JOIN sizes USING (seq) WHERE before < $2
            ORDER BY seq DESC
            """, [.number(Int64(max(0, limit))), .number(Int64(bytes))]
        ) { EventBody(id: try $0.text(0), acceptedAt: try $0.date(1), body: try $0.bytes(2)) }
    }

    /// Counts rows in steps, so it reads a whole index.
    package func eventCount() async throws(StoreError) -> Int {
        try await readers.snapshot { connection in
            try connection.sum(
                """
                SELECT count(*), max(seq), count(*)
                FROM (SELECT seq FROM events WHERE seq > $1 ORDER BY seq LIMIT $2) s
                """)
        }
    }
}

/// The walk through the events of a page.
private struct EventWalk {
    /// The most bytes of bodies that one statement reads, unless a single body is larger.
    private static let bytesPerRead = 4 << 20

    /// Its conditions on bodies are evaluated here, the others by the server.
    private let filter: EventFilter
    private(set) var scan: BoundedScan
    /// The bytes of the bodies of matching events.
    private(set) var sizes: [Int64: Int] = [:]
    /// Exclusive bounds of the numbers.
    private let start, end: Int64

    init(_ filter: EventFilter, limit: Int, examining rows: Int, on connection: PostgresConnection) throws {
        self.filter = filter
        start = try connection.start(of: filter.acceptedSince)
        end = min(try connection.end(of: filter.acceptedBefore), filter.before ?? .max)
        scan = BoundedScan(limit: limit, examining: rows)
    }

    /// Examines the next rows.
    mutating func step(_ wanted: Int, on connection: PostgresConnection) throws {
        let found = try connection.run(
            Self.sql, filter.arguments(after: start, before: scan.last ?? end, limit: wanted)
        ).map { (id: try $0.number(0), isMatch: try $0.flag(1), bytes: try $0.count(2)) }
        for row in found where row.isMatch { sizes[row.id] = row.bytes }
        let rows = found.map { (id: $0.id, isMatch: $0.isMatch) }
        guard let matches = filter.matches else { return scan.add(rows, of: wanted) }
        let isEnd = found.count < wanted
        try test(isEnd ? rows[...] : rows.dropLast(), isEnd: isEnd, matches, on: connection)
    }

    /// Tests the bodies of the rows that meet the other conditions, some at a time: each takes time.
    private mutating func test(
        _ found: ArraySlice<(id: Int64, isMatch: Bool)>, isEnd: Bool, _ matches: (_ body: [UInt8]) -> Bool,
        on connection: PostgresConnection
    ) throws {
        var rest = found
        repeat {
            var (count, bytes) = (0, 0)
            for row in rest {
                bytes += row.isMatch ? sizes[row.id] ?? 0 : 0
                guard count == 0 || bytes <= Self.bytesPerRead else { break }
                count += 1
            }
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            let candidates = part.filter(\.isMatch).map(\.id)
            var passed: Set<Int64> = []
            if !candidates.isEmpty {
                let bodies = try connection.run(
                    "SELECT seq, body FROM events WHERE seq = ANY ($1)", [.numbers(candidates)])
                passed = Set(try bodies.compactMap { matches(try $0.bytes(1)) ? try $0.number(0) : nil })
            }
            scan.add(part.map { (id: $0.id, isMatch: passed.contains($0.id)) }[...], isEnd: isEnd && rest.isEmpty)
        } while !rest.isEmpty && scan.wanted != nil
    }

    /// Numbers, the newest first, with whether they meet the conditions on columns, and the size of the body. A subject
    /// without a slash has neither vendor nor kind.
    private static let sql = """
        SELECT seq, coalesce(($3::text IS NULL OR split_part(subject, '/', 1) = $3 AND strpos(subject, '/') > 0)
            AND ($4::text IS NULL OR strpos(subject, '/') > 0 AND substr(subject, strpos(subject, '/') + 1) = $4)
            AND ($5::text IS NULL OR source = $5) AND ($6::bigint IS NULL OR accepted_at >= $6)
            AND ($7::bigint IS NULL OR accepted_at < $7)
            AND (NOT $8 OR (SELECT 1 FROM deliveries WHERE event = e.seq LIMIT 1) IS NULL), false), octet_length(body)
        FROM events e WHERE seq > $9 AND seq < $1 ORDER BY seq DESC LIMIT $2
        """
}

extension EventFilter {
    /// NULL for each condition that the filter does not have.
    fileprivate func arguments(after lower: Int64, before upper: Int64, limit: Int) -> [PostgresValue] {
        [
            .number(upper), .number(Int64(limit)), .text(vendor), .text(kind), .text(source?.name),
            .time(acceptedSince), .time(acceptedBefore), .flag(isUnrouted), .number(lower),
        ]
    }
}

extension PostgresConnection {
    /// The number after which the events since a time begin; `Int64.min` without a time. See ``AcceptanceSearch``.
    fileprivate func start(of since: Date?) throws -> Int64 {
        guard let since else { return .min }
        return try run(AcceptanceSearch.start(since: "$1::bigint"), [.time(since)]).first?.number(0) ?? .min
    }

    /// The number before which the events until a time end; `Int64.max` without a time. See ``AcceptanceSearch``.
    fileprivate func end(of until: Date?) throws -> Int64 {
        guard let until else { return .max }
        return try run(AcceptanceSearch.end(until: "$1::bigint"), [.time(until)]).first?.number(0) ?? .max
    }

    /// The number after which the deliveries of events since a time begin: the last one that was made with an older
    /// event. An operator may order a delivery of an older event later.
    func lastDelivery(since time: Date?) throws -> Int64 {
        let start = try start(of: time)
        guard start > .min else { return start }
        return try run(
            """
            SELECT greatest(
                (SELECT id FROM queue WHERE event <= $1 AND NOT manual ORDER BY event DESC, id DESC LIMIT 1),
                (SELECT id FROM ended WHERE event <= $1 AND NOT manual ORDER BY event DESC, id DESC LIMIT 1))
            """, [.number(start)]
        ).first?.optionalNumber(0) ?? .min
    }
}

// MARK: Rows

extension EventRecord {
    /// Of `events e`. The numbers of its deliveries follow the state's position in ``states``. The empty text keeps the
    /// planner from the partial index of all deliveries of a state.
    fileprivate static let columns = """
        seq, e.id::text, source, subject, accepted_at, body,
            payload IS NOT NULL OR (SELECT 1 FROM payloads WHERE event = e.seq) IS NOT NULL,
            (SELECT count(*) FROM queue WHERE event = e.seq),
            (SELECT count(*) FROM ended WHERE event = e.seq AND state = 'delivered'),
            (SELECT count(*) FROM ended WHERE event = e.seq AND state || '' = 'dead'),
            (SELECT count(*) FROM ended WHERE event = e.seq AND state || '' = 'expired')
        """
    private static let states: [DeliveryRecord.State] = [.waiting, .delivered, .dead, .expired]

    /// The events with these numbers, the newest first.
    fileprivate static let list = "SELECT \(columns) FROM events e WHERE seq = ANY ($1) ORDER BY seq DESC"

    fileprivate init(_ row: PostgresRow) throws {
        var counts: [DeliveryRecord.State: Int] = [:]
        for (position, state) in Self.states.enumerated() {
            let count = try row.count(7 + position)
            if count > 0 { counts[state] = count }
        }
        self.init(
            number: try row.number(0), id: try row.text(1), source: SourceName(try row.text(2)),
            subject: try row.text(3), acceptedAt: try row.date(4), body: try row.bytes(5), deliveries: counts,
            hasPayload: try row.flag(6))
    }
}
