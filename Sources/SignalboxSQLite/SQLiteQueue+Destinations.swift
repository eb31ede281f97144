import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// Who takes nothing for now.
extension SQLiteQueue {
    /// The destinations that are paused or disabled, as the file has them.
    package func destinationStates() async throws(StoreError) -> [DestinationName: DestinationState] {
        try await read { try DestinationState.all(in: $0) }
    }

    /// Pauses or disables a destination, or lets it go on with nil, also one that has not given its permission: then it
    /// is asked again. Deliveries to it are kept. A running gateway sees it at its next tick.
    package func set(_ state: DestinationState?, of destination: DestinationName) async throws(StoreError) {
        try await write { db in
            if let state { return try state.write(for: destination, in: db) }
            try db.execute(sql: "DELETE FROM destinations WHERE name = ?", arguments: [destination.name])
            try WithheldPermission.remove(of: destination, in: db)
        }
        if state == nil { lanes.permit(by: destination) }
        lanes.set(state, of: destination)
    }

    /// Whether a destination takes events, as far as this process knows.
    package func isActive(_ destination: DestinationName) -> Bool { lanes.state(of: destination) == nil }

    /// The number of the file read that a destination's lane has in progress; nil for none.
    package func readingNumber(of destination: DestinationName) -> Int? {
        lanes.withHandOff { $0.readingNumber(of: destination) }
    }

    func readDestinationStates() async throws(StoreError) {
        lanes.set(try await destinationStates())
    }
}

extension DestinationState {
    func write(for destination: DestinationName, in db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO destinations (name, state, reason, since) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [destination.name, word.rawValue, reason, since.milliseconds])
    }

    static func all(in db: Database) throws -> [DestinationName: DestinationState] {
        var states: [DestinationName: DestinationState] = [:]
        for row in try StoredRow.fetchAll(db, sql: "SELECT name, state, reason, since FROM destinations") {
            states[DestinationName(try row.text(0))] = DestinationState(
                try row.word(1), reason: try row.optionalText(2), since: try row.date(3))
        }
        return states
    }
}
