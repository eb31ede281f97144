import Foundation
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
                    SELECT d.id, e.id, e.subject, d.destination, d.state, d.attempts, d.due, e.accepted_at, d.status,
                        d.reason
                    FROM deliveries d JOIN events e ON e.seq = d.event WHERE \(condition) ORDER BY d.id DESC LIMIT ?
                    """, arguments: arguments + [limit]
            ).map { DeliveryRecord($0) }
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

    /// Makes deliveries that are dead, or that wait for their next attempt, due now, with a fresh budget of attempts.
    /// Those that were delivered stay as they are. Returns how many there were. A running gateway sees it at its next
    /// tick.
    package func retry(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        let (condition, arguments) = filter.sql
        let now = Date().milliseconds
        return try await write { db in
            try db.execute(
                sql: """
                    UPDATE deliveries AS d SET state = 'waiting', due = ?, attempts = 0
                    WHERE d.state IN ('dead', 'waiting') AND \(condition)
                    """, arguments: [now] + arguments)
            return db.changesCount
        }
    }

    private func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do { return try await pool.read(body) } catch { throw StoreError(error, path: path) }
    }

    private func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do { return try await pool.write(body) } catch { throw StoreError(error, path: path) }
    }
}

extension DeliveryFilter {
    fileprivate var sql: (condition: String, arguments: StatementArguments) {
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
        return (conditions.joined(separator: " AND "), arguments)
    }
}

extension DeliveryRecord {
    fileprivate init(_ row: Row) {
        let state: String = row[4]
        self.init(
            id: row[0], event: row[1], subject: row[2], destination: DestinationName(row[3]),
            state: State(rawValue: state) ?? .waiting, attempts: row[5], due: Date(milliseconds: row[6]),
            acceptedAt: Date(milliseconds: row[7]), status: row[8], reason: row[9])
    }
}
