package import Foundation
import GRDB
package import SignalboxModel

/// That a destination was asked whether it may be sent to and has not said yes, and since when. Its deliveries wait.
package struct WithheldPermission: Sendable, Equatable {
    /// Of the last time that it was asked.
    package let reason: String
    package let since: Date
}

/// What keeps the deliveries to a destination waiting, and since when.
package struct Hindrance: Sendable, Equatable {
    /// `paused`, `disabled` or `withheld`.
    package let word: String
    package let reason: String?
    package let since: Date
}

extension SQLiteQueue {
    /// The destinations that get nothing for now, as the file has them.
    package func hindrances() async throws(StoreError) -> [DestinationName: Hindrance] {
        try await read { db in
            let withheld = try WithheldPermission.all(in: db).mapValues {
                Hindrance(word: "withheld", reason: $0.reason, since: $0.since)
            }
            let states = try DestinationState.all(in: db).mapValues {
                Hindrance(word: $0.word.rawValue, reason: $0.reason, since: $0.since)
            }
            return states.merging(withheld) { state, _ in state }
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
        for row in try Row.fetchAll(db, sql: "SELECT destination, reason, since FROM withheld") {
            all[DestinationName(row[0])] = WithheldPermission(reason: row[1], since: Date(milliseconds: row[2]))
        }
        return all
    }

    static func remove(of destination: DestinationName, in db: Database) throws {
        try db.execute(sql: "DELETE FROM withheld WHERE destination = ?", arguments: [destination.name])
    }
}
