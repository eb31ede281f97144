package import Foundation
import GRDB
package import SignalboxModel

/// The queue as operators look at it.
extension SQLiteQueue {
    /// Deliveries, the newest first, at most `limit`.
    package func deliveries(_ filter: DeliveryFilter, limit: Int) async throws(StoreError) -> [DeliveryRecord] {
        let (condition, arguments) = filter.sql
        return try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT d.id, e.id AS event, e.subject, d.destination, d.state, d.attempts, d.due, d.not_before,
                        d.not_after, e.accepted_at, d.started_at, d.duration, d.status, d.error, d.reason, d.remote,
                        d.excerpt, d.begun > d.attempts AS in_progress,
                        (SELECT until FROM media_waits WHERE delivery = d.id AND d.begun = 0) AS media_until,
                        (SELECT min(id) FROM deliveries WHERE state = 'waiting' AND d.state = 'waiting'
                            AND destination = d.destination AND order_key = d.order_key AND id < d.id) AS predecessor
                    FROM deliveries d JOIN events e ON e.seq = d.event WHERE \(condition) ORDER BY d.id DESC LIMIT ?
                    """, arguments: arguments + [limit]
            ).map { DeliveryRecord($0) }
        }
    }

    /// All attempts of a delivery in their order.
    package func attempts(of delivery: Int64) async throws(StoreError) -> [AttemptRecord] {
        try await read { db in
            let columns = "started_at, duration, status, error, reason, remote, excerpt"
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT number AS attempts, \(columns) FROM attempts WHERE delivery = :id
                    UNION ALL SELECT attempts, \(columns) FROM deliveries WHERE id = :id AND attempts > 0
                    ORDER BY 1
                    """, arguments: ["id": delivery]
            ).compactMap { AttemptRecord($0) }
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

    /// What operators watch of a destination: cheap enough to be asked every few seconds.
    package struct Gauges: Sendable, Equatable {
        package var accepted = 0
        package var waiting = 0
        package var dead = 0
        /// Since when the delivery that has been due longest is due; nil when none is.
        package var oldestDue: Date?
    }

    /// Read from indexes and the ledger.
    package func gauges() async throws(StoreError) -> [DestinationName: Gauges] {
        let now = now().milliseconds
        return try await read { db in
            var gauges: [DestinationName: Gauges] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT destination, accepted FROM ledger") {
                gauges[DestinationName(row[0]), default: Gauges()].accepted = row[1]
            }
            let waiting = """
                SELECT destination, count(*), min(due) FROM deliveries WHERE state = 'waiting' GROUP BY destination
                """
            for row in try Row.fetchAll(db, sql: waiting) {
                let name = DestinationName(row[0])
                gauges[name, default: Gauges()].waiting = row[1]
                let due: Int64 = row[2]
                if due <= now { gauges[name]?.oldestDue = Date(milliseconds: due) }
            }
            let dead = "SELECT destination, count(*) FROM deliveries WHERE state = 'dead' GROUP BY destination"
            for row in try Row.fetchAll(db, sql: dead) {
                gauges[DestinationName(row[0]), default: Gauges()].dead = row[1]
            }
            return gauges
        }
    }

    /// How many deliveries are in each state, by destination.
    package func counts() async throws(StoreError) -> [DestinationName: [DeliveryRecord.State: Int]] {
        try await read { db in
            var counts: [DestinationName: [DeliveryRecord.State: Int]] = [:]
            let rows = try Row.fetchAll(
                db, sql: "SELECT destination, state, count(*) FROM deliveries GROUP BY destination, state")
            for row in rows {
                guard let state = DeliveryRecord.State(rawValue: row[1]) else { continue }
                counts[DestinationName(row[0]), default: [:]][state] = row[2]
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
                let row = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT seq, source, subject, body, payload FROM events WHERE id = ?"),
                    arguments: [id])
            else { return nil }
            let variants = try Data.fetchAll(
                db.cachedStatement(sql: "SELECT body FROM variants WHERE event = ? AND NOT plain ORDER BY id"),
                arguments: [row[0] as Int64])
            let body: Data = row[3]
            let payload: Data? = row[4]
            return StoredEvent(
                source: SourceName(row[1]), subject: row[2], body: Array(body), payload: payload.map { Array($0) },
                variants: variants.map { Array($0) })
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
        do { return try await pool.read(body) } catch { throw StoreError(error, path: path) }
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
            throw StoreError(error, path: path)
        }
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
    fileprivate init(_ row: Row) {
        let state: String = row["state"]
        let notBefore: Int64? = row["not_before"]
        let notAfter: Int64? = row["not_after"]
        self.init(
            id: row["id"], event: row["event"], subject: row["subject"],
            destination: DestinationName(row["destination"]), state: State(rawValue: state) ?? .waiting,
            attempts: row["attempts"], due: Date(milliseconds: row["due"]),
            notBefore: notBefore.map { Date(milliseconds: $0) }, notAfter: notAfter.map { Date(milliseconds: $0) },
            acceptedAt: Date(milliseconds: row["accepted_at"]), last: AttemptRecord(row))
        isInProgress = row["in_progress"]
        mediaUntil = (row["media_until"] as Int64?).map { Date(milliseconds: $0) }
        predecessor = row["predecessor"]
    }
}

extension AttemptRecord {
    /// Nil before the first attempt, unless something kept it from being made.
    fileprivate init?(_ row: Row) {
        let number: Int = row["attempts"]
        let reason: String? = row["reason"]
        guard number > 0 || reason != nil else { return nil }
        let startedAt: Int64? = row["started_at"]
        let excerpt: Data? = row["excerpt"]
        self.init(
            number: number, startedAt: startedAt.map { Date(milliseconds: $0) }, duration: row["duration"],
            status: row["status"], error: row["error"], reason: reason, remote: row["remote"],
            excerpt: excerpt.map { Array($0) } ?? [])
    }
}
