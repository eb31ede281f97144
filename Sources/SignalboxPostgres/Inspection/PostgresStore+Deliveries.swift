package import SignalboxNotification
package import SignalboxStore

/// Deliveries as operators see them. Every statement reads a bounded number of rows.
extension PostgresStore {
    /// The newest first, in pages without a time limit. Each page is a snapshot of its own, so a filter with few
    /// matches does not hold a snapshot for long.
    package func deliveries(_ filter: DeliveryFilter, limit: Int) async throws(StoreError) -> [DeliveryRecord] {
        var (found, filter): ([DeliveryRecord], DeliveryFilter) = ([], filter)
        while found.count < limit {
            let page = try await deliveryPage(
                filter, limit: min(limit - found.count, DeliveryRecord.pageSize), examining: DeliveryWalk.step)
            found += page.records
            guard let next = page.next else { break }
            filter.before = next
        }
        return found
    }

    /// Walks down the primary keys of both tables, or an index that the filter fits, and evaluates the other
    /// conditions row by row. Reads the whole rows of the matches only. One snapshot.
    package func deliveryPage(
        _ filter: DeliveryFilter, limit: Int, examining rows: Int
    ) async throws(StoreError) -> StorePage<DeliveryRecord> {
        guard let walk = filter.walk else { return StorePage(records: [], next: nil, isComplete: true) }
        return try await readers.snapshot { [lanes] connection in
            let start = try connection.lastDelivery(since: filter.acceptedSince)
            var scan = BoundedScan(limit: limit, examining: rows)
            while let wanted = scan.wanted {
                let rows = try connection.run(
                    walk.scan, filter.arguments(after: start, before: scan.last ?? filter.end, limit: wanted))
                scan.add(try rows.map { (try $0.number(0), try $0.flag(1)) }, of: wanted)
            }
            let records =
                try scan.ids.isEmpty
                ? [] : connection.run(DeliveryRecord.list, [.numbers(scan.ids)]).map { try DeliveryRecord($0) }
            return StorePage(records: lanes.withClaims(records), next: scan.next, isComplete: scan.isComplete)
        }
    }

    /// The last attempt is stored with its delivery, the earlier ones in a table of their own. Empty for an unknown
    /// delivery. A delivery without attempts whose first one was postponed has none.
    package func attempts(of delivery: Int64) async throws(StoreError) -> [AttemptRecord] {
        try await readers.read { connection in
            try connection.run(
                """
                SELECT number, \(AttemptRecord.columns) FROM attempts WHERE delivery = $1 UNION ALL
                SELECT attempts, \(AttemptRecord.columns) FROM deliveries WHERE id = $1 AND attempts > 0
                ORDER BY 1
                """, [.number(delivery)]
            ).compactMap { try AttemptRecord(number: $0.count(0), $0, from: 1) }
        }
    }

    /// Reads every delivery in one snapshot, in steps. Slow for a large queue, like the audit.
    package func counts() async throws(StoreError) -> [DestinationName: [DeliveryRecord.State: Int]] {
        try await readers.snapshot { try $0.deliveryCounts() }
    }

    /// Reads all waiting deliveries, in steps.
    package func scheduledCount() async throws(StoreError) -> Int {
        let now = now
        return try await readers.read { connection in
            try connection.sum(
                """
                SELECT count(*) FILTER (WHERE not_before > $3), max(id), count(*)
                FROM (SELECT id, not_before FROM queue WHERE id > $1 ORDER BY id LIMIT $2) s
                """, [.time(now)])
        }
    }

    /// By the ledger, which keeps its rows after the deliveries are removed.
    package func knows(_ destination: DestinationName) async throws(StoreError) -> Bool {
        try await readers.read { connection in
            try !connection.run("SELECT 1 FROM ledger WHERE destination = $1 LIMIT 1", [.destination(destination)])
                .isEmpty
        }
    }
}

extension PostgresConnection {
    /// Stored deliveries by destination and state. Reads both tables in steps. The caller holds a snapshot if the
    /// counts must agree.
    func deliveryCounts() throws -> [DestinationName: [DeliveryRecord.State: Int]] {
        var counts: [DestinationName: [DeliveryRecord.State: Int]] = [:]
        // The rows of each of the two tables.
        for walk in [DeliveryWalk.waiting, .delivered] {
            try readAll(
                """
                WITH walk AS MATERIALIZED (
                    SELECT d.id, d.destination, d.state FROM \(walk.source) WHERE d.id > $1 ORDER BY d.id LIMIT $2
                )
                SELECT destination, state, count(*), NULL FROM walk GROUP BY destination, state
                UNION ALL SELECT NULL, NULL, count(*), max(id) FROM walk
                """, end: { try $0.optionalText(0) == nil ? ($0.optionalNumber(3), $0.count(2)) : nil }
            ) { row in
                counts[try row.destination(0), default: [:]][try row.word(1), default: 0] += try row.count(2)
            }
        }
        return counts
    }

    /// Runs a statement for all rows of a table, ``DeliveryWalk/step`` at a time in the order of their numbers. `$1`:
    /// the last number of the former step, `$2`: the number of rows, then `arguments`. `end`: the last number and the
    /// number of rows of a step, in the row that has them; nil for other rows, which `each` receives. Throws
    /// ``DamagedValue`` if numbers do not ascend, as with a damaged index: the walk would not end.
    func readAll(
        _ sql: String, _ arguments: [PostgresValue] = [],
        end: (PostgresRow) throws -> (last: Int64?, rows: Int)?, each: (PostgresRow) throws -> Void
    ) throws {
        var position: Int64? = .min
        while let start = position {
            position = nil
            let rows = try run(sql, [.number(start), .number(Int64(DeliveryWalk.step))] + arguments)
            for row in rows {
                guard let step = try end(row) else {
                    try each(row)
                    continue
                }
                guard step.rows == DeliveryWalk.step, let last = step.last else { continue }
                guard last > start else { throw DamagedValue("the rows of a table are out of order") }
                position = last
            }
        }
    }

    /// The sum of the first column over the steps of a table. The other columns: the last number, and how many rows the
    /// step has.
    func sum(_ sql: String, _ arguments: [PostgresValue] = []) throws -> Int {
        var sum = 0
        try readAll(
            sql, arguments,
            end: { row -> (last: Int64?, rows: Int)? in
                sum += try row.count(0)
                return (try row.optionalNumber(1), try row.count(2))
            }, each: { _ in })
        return sum
    }
}

// MARK: Rows

extension DeliveryRecord {
    /// The most rows that one statement lists.
    static let pageSize = 1000

    /// The deliveries with these numbers, the newest first: each with its event, its wait and its predecessor.
    static let list = """
        SELECT d.id, e.id::text, e.subject, d.destination, d.state, d.attempts, d.due, d.not_before, d.not_after,
            e.accepted_at, d.holder IS NOT NULL AND d.begun > d.attempts,
            (SELECT until FROM media_waits WHERE delivery = d.id AND d.begun = 0),
            (SELECT id FROM queue WHERE d.state = 'waiting' AND destination = d.destination
                AND order_key = d.order_key AND id < d.id ORDER BY id LIMIT 1),
            d.manual, started_at, duration, status, error, reason, remote, excerpt, NULL::bytea
        FROM deliveries d JOIN events e ON e.seq = d.event WHERE d.id = ANY ($1) ORDER BY d.id DESC
        """
}
