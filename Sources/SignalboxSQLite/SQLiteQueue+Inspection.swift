import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// The queue as operators look at it.
extension SQLiteQueue {
    /// Deliveries, the newest first, at most `limit`.
    package func deliveries(_ filter: DeliveryFilter, limit: Int) async throws(StoreError) -> [DeliveryRecord] {
        let (condition, arguments) = filter.sql
        return try await read { db in
            try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT d.id, e.id, e.subject, d.destination, d.state, d.attempts, d.due, d.not_before, d.not_after,
                        e.accepted_at, d.begun > d.attempts,
                        (SELECT until FROM media_waits WHERE delivery = d.id AND d.begun = 0),
                        (SELECT min(id) FROM deliveries WHERE state = 'waiting' AND d.state = 'waiting'
                            AND destination = d.destination AND order_key = d.order_key AND id < d.id),
                        \(AttemptRecord.columns)
                    FROM deliveries d JOIN events e ON e.seq = d.event WHERE \(condition) ORDER BY d.id DESC LIMIT ?
                    """, arguments: arguments + [limit]
            ).map { try DeliveryRecord($0) }
        }
    }

    /// All attempts of a delivery in their order.
    package func attempts(of delivery: Int64) async throws(StoreError) -> [AttemptRecord] {
        try await read { db in
            let columns = AttemptRecord.columns
            return try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT number, \(columns) FROM attempts WHERE delivery = :id
                    UNION ALL SELECT attempts, \(columns) FROM deliveries WHERE id = :id AND attempts > 0
                    ORDER BY 1
                    """, arguments: ["id": delivery]
            ).compactMap { try AttemptRecord(number: $0.count(0), $0, from: 1) }
        }
    }

    /// How many deliveries wait for a time that has not come.
    package func scheduledCount() async throws(StoreError) -> Int {
        let now = now().milliseconds
        return try await read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM deliveries WHERE state = 'waiting' AND not_before > ?",
                arguments: [now]) ?? 0
        }
    }

    /// Read from indexes and the ledger.
    package func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] {
        let now = now().milliseconds
        return try await read { db in
            var gauges: [DestinationName: DestinationGauges] = [:]
            for row in try StoredRow.fetchAll(db, sql: "SELECT destination, accepted FROM ledger") {
                gauges[DestinationName(try row.text(0)), default: DestinationGauges()].accepted = try row.count(1)
            }
            let waiting = """
                SELECT destination, count(*), min(due) FROM deliveries WHERE state = 'waiting' GROUP BY destination
                """
            for row in try StoredRow.fetchAll(db, sql: waiting) {
                let name = DestinationName(try row.text(0))
                gauges[name, default: DestinationGauges()].waiting = try row.count(1)
                let due = try row.number(2)
                if due <= now { gauges[name]?.oldestDue = Date(milliseconds: due) }
            }
            let dead = "SELECT destination, count(*) FROM deliveries WHERE state = 'dead' GROUP BY destination"
            for row in try StoredRow.fetchAll(db, sql: dead) {
                gauges[DestinationName(try row.text(0)), default: DestinationGauges()].dead = try row.count(1)
            }
            return gauges
        }
    }

    /// How many deliveries are in each state, by destination.
    package func counts() async throws(StoreError) -> [DestinationName: [DeliveryRecord.State: Int]] {
        try await read { db in
            var counts: [DestinationName: [DeliveryRecord.State: Int]] = [:]
            let rows = try StoredRow.fetchAll(
                db, sql: "SELECT destination, state, count(*) FROM deliveries GROUP BY destination, state")
            for row in rows {
                let state = try row.word(1, as: DeliveryRecord.State.self)
                counts[DestinationName(try row.text(0)), default: [:]][state] = try row.count(2)
            }
            return counts
        }
    }

    /// How many events were accepted.
    package func eventCount() async throws(StoreError) -> Int {
        try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM events") ?? 0 }
    }

    /// The body of an event; nil when there is no such event.
    package func body(ofEvent id: String) async throws(StoreError) -> [UInt8]? {
        try await read { try Data.fetchOne($0, sql: "SELECT body FROM events WHERE id = ?", arguments: [id]) }
            .map { Array($0) }
    }

    /// An event as it was taken; nil when there is no such event, or none any more.
    package func event(_ id: String) async throws(StoreError) -> StoredEvent? {
        try await read { db in
            guard
                let row = try StoredRow.fetchOne(
                    db.cachedStatement(sql: "SELECT seq, source, subject, body, payload FROM events WHERE id = ?"),
                    arguments: [id])
            else { return nil }
            let variants = try Data.fetchAll(
                db.cachedStatement(sql: "SELECT body FROM variants WHERE event = ? AND NOT plain ORDER BY id"),
                arguments: [try row.number(0)])
            return StoredEvent(
                source: SourceName(try row.text(1)), subject: try row.text(2), body: try row.bytes(3),
                payload: try row.optionalBytes(4), variants: variants.map { Array($0) })
        }
    }

    /// Makes deliveries that are dead, or that wait for their next attempt, due now, with a fresh budget of attempts; but
    /// none before a time that it is to wait for. Those that were delivered stay as they are, and so do those that wait
    /// for files. Returns how many there were. A running gateway sees it at its next tick.
    package func retry(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        let (condition, arguments) = filter.sql
        let now = now()
        let count = try await write { db in
            try db.execute(
                sql: """
                    UPDATE deliveries AS d SET state = 'waiting', due = max(?, coalesce(not_before, 0)), forgiven = begun
                    WHERE \(condition) AND (d.state = 'dead' OR d.state = 'waiting'
                        AND NOT EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id AND d.begun = 0))
                    """, arguments: [now.milliseconds] + arguments)
            return db.changesCount
        }
        lanes.wake(lanes.withHandOff { $0.wake(at: now, all: true) })
        return count
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do { return try await pool.read(body) } catch { throw failure(error) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        try checkDisk()
        do {
            return try await pool.writeWithoutTransaction { [checkpointer] db in
                var result: T?
                try db.inTransaction(.immediate) {
                    result = try body(db)
                    return .commit
                }
                checkpointer.committed(by: db)
                guard let result else { preconditionFailure("What was committed has no result.") }
                return result
            }
        } catch {
            throw failure(error)
        }
    }

    /// Checkpoints all commits into the file, unless a reader prevents it.
    package func checkpoint() async throws(StoreError) {
        do {
            _ = try await pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
        } catch {
            throw failure(error)
        }
    }

    /// The due deliveries that can be read, if the file is known to be damaged; nil otherwise.
    func searchAroundDamage(
        _ destination: DestinationName, upTo limit: Int
    ) async throws(StoreError) -> DueSearch? {
        guard health.damage != nil else { return nil }
        let now = now().milliseconds
        return try await read { [lanes, path] db in
            var search = DueSearch(of: destination, by: now, limit: limit, lanes)
            try search.runAroundDamage(in: db, path: path)
            return search
        }
    }

    /// Converts an error of SQLite. Damage is remembered.
    func failure(_ error: any Error) -> StoreError {
        let reason = StoreError(error, path: path)
        health.note(reason)
        return reason
    }
}

extension DeliveryFilter {
    var sql: (condition: String, arguments: StatementArguments) {
        var conditions: [String] = ["1"]
        var arguments = StatementArguments()
        if let ids {
            conditions.append("d.id IN (\(ids.map { _ in "?" }.joined(separator: ", ")))")
            arguments += StatementArguments(ids)
        }
        if let state {
            conditions.append("d.state = ?")
            arguments += [state.rawValue]
        }
        if let destination {
            conditions.append("d.destination = ?")
            arguments += [destination.name]
        }
        if let before {
            conditions.append("d.id < ?")
            arguments += [before]
        }
        if let event {
            conditions.append("d.event = (SELECT seq FROM events WHERE id = ?)")
            arguments += [event]
        }
        if let acceptedBefore {
            conditions.append("d.event IN (SELECT seq FROM events WHERE accepted_at < ?)")
            arguments += [acceptedBefore.milliseconds]
        }
        return (conditions.joined(separator: " AND "), arguments)
    }
}

extension DeliveryRecord {
    /// Reads the columns that ``SQLiteQueue/deliveries(_:limit:)`` selects.
    fileprivate init(_ row: StoredRow) throws {
        self.init(
            id: try row.number(0), event: try row.eventID(1), subject: try row.text(2),
            destination: DestinationName(try row.text(3)), state: try row.word(4), attempts: try row.count(5),
            due: try row.date(6), notBefore: try row.optionalDate(7), notAfter: try row.optionalDate(8),
            acceptedAt: try row.date(9), last: try AttemptRecord(number: try row.count(5), row, from: 13))
        isInProgress = try row.flag(10)
        mediaUntil = try row.optionalDate(11)
        predecessor = try row.optionalNumber(12)
    }
}

extension AttemptRecord {
    /// The columns of an attempt, in the order in which ``init(number:_:from:)`` reads them.
    fileprivate static let columns = "started_at, duration, status, error, reason, remote, excerpt"

    /// Reads ``columns`` from `first` on. Nil before the first attempt, unless something prevented that attempt.
    fileprivate init?(number: Int, _ row: StoredRow, from first: Int) throws {
        let reason = try row.optionalText(first + 4)
        guard number > 0 || reason != nil else { return nil }
        self.init(
            number: number, startedAt: try row.optionalDate(first), duration: try row.optionalCount(first + 1),
            status: try row.optionalCount(first + 2), error: try row.optionalText(first + 3), reason: reason,
            remote: try row.optionalText(first + 5), excerpt: try row.optionalBytes(first + 6) ?? [])
    }
}
