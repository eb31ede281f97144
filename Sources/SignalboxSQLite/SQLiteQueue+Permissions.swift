import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

extension SQLiteQueue {
    /// The destinations that get nothing for now, as the file has them.
    package func statuses() async throws(StoreError) -> [DestinationName: DestinationStatus] {
        let now = now()
        return try await read { db in
            let states = try DestinationState.all(in: db).mapValues { DestinationStatus($0) }
            let withheld = try WithheldPermission.all(in: db).mapValues { DestinationStatus($0) }
            // A breaker stays open until an attempt succeeds; a requested pause ends by itself.
            let backoffs = try DestinationBackoff.all(in: db).filter { $1.kind == .breakerOpen || $1.until > now }
                .mapValues { DestinationStatus($0) }
            return states.merging(withheld) { state, _ in state }.merging(backoffs) { other, _ in other }
        }
    }
}

/// Who has not given the permission that it was asked for.
extension SQLiteQueue {
    /// All of them, as the file has them.
    package func withheldPermissions() async throws(StoreError) -> [DestinationName: WithheldPermission] {
        try await read { try WithheldPermission.all(in: $0) }
    }

    /// Whether a destination is among them, as far as this process knows.
    package func isWithheld(by destination: DestinationName) -> Bool { lanes.isWithheld(by: destination) }

    /// Notes that a destination has not given its permission; since when stays as it is. What this process knows of it
    /// holds also when this throws.
    package func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError) {
        lanes.withhold(by: destination)
        let since = now().milliseconds
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO withheld (destination, reason, since) VALUES (?, ?, ?)
                    ON CONFLICT (destination) DO UPDATE SET reason = excluded.reason
                    """, arguments: [destination.name, reason, since])
        }
    }

    /// Notes that it has given it, or that nobody asks any more.
    package func permit(by destination: DestinationName) async throws(StoreError) {
        try await write { try WithheldPermission.remove(of: destination, in: $0) }
        lanes.permit(by: destination)
    }
}

extension WithheldPermission {
    static func all(in db: Database) throws -> [DestinationName: WithheldPermission] {
        var all: [DestinationName: WithheldPermission] = [:]
        for row in try StoredRow.fetchAll(db, sql: "SELECT destination, reason, since FROM withheld") {
            all[DestinationName(try row.text(0))] = WithheldPermission(
                reason: try row.text(1), since: try row.date(2))
        }
        return all
    }

    static func remove(of destination: DestinationName, in db: Database) throws {
        try db.execute(sql: "DELETE FROM withheld WHERE destination = ?", arguments: [destination.name])
    }
}
