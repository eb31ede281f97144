import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// Destinations that accept nothing for now.
extension SQLiteQueue {
    package func statuses() async throws(StoreError) -> [DestinationName: DestinationStatus] {
        let now = now
        return try await file.read { db in
            DestinationStatus.all(
                states: try DestinationState.all(in: db), withheld: try WithheldPermission.all(in: db),
                backoffs: try DestinationBackoff.all(in: db), at: now)
        }
    }

    package func set(_ state: DestinationState?, of destination: DestinationName) async throws(StoreError) {
        try await write { db, _ in
            if let state { return try state.write(for: destination, in: db) }
            try db.run("DELETE FROM destinations WHERE name = ?", [destination.name])
            try db.run("DELETE FROM withheld WHERE destination = ?", [destination.name])
        }
        if state == nil { file.lanes.permit(by: destination) }
        file.lanes.set(state, of: destination)
    }

    package func isActive(_ destination: DestinationName) -> Bool { file.lanes.state(of: destination) == nil }

    // MARK: Permissions

    package func isWithheld(by destination: DestinationName) -> Bool { file.lanes.isWithheld(by: destination) }

    package func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError) {
        file.lanes.withhold(by: destination)
        try await write { db, now in
            try db.run(
                """
                INSERT INTO withheld (destination, reason, since) VALUES (?, ?, ?)
                ON CONFLICT (destination) DO UPDATE SET reason = excluded.reason
                """, [destination.name, reason, now.milliseconds])
        }
    }

    package func permit(by destination: DestinationName) async throws(StoreError) {
        try await write { db, _ in try db.run("DELETE FROM withheld WHERE destination = ?", [destination.name]) }
        file.lanes.permit(by: destination)
    }

    // MARK: Backoffs

    package func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError) {
        try await write { db, _ in
            guard let backoff else {
                try db.run("DELETE FROM backoffs WHERE destination = ?", [destination.name])
                return
            }
            try db.run(
                """
                INSERT INTO backoffs (destination, kind, reason, since, until) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (destination) DO UPDATE SET reason = excluded.reason, until = excluded.until,
                    since = iif(kind = excluded.kind, since, excluded.since), kind = excluded.kind
                """,
                [
                    destination.name, backoff.kind.rawValue, backoff.reason, backoff.since.milliseconds,
                    backoff.until.milliseconds,
                ])
        }
    }

    package func forgetBackoffs() async throws(StoreError) {
        guard !(try await file.read { try DestinationBackoff.all(in: $0) }).isEmpty else { return }
        try await write { db, _ in try db.run("DELETE FROM backoffs") }
    }
}

extension DestinationState {
    func write(for destination: DestinationName, in db: Database) throws {
        try db.run(
            "INSERT OR REPLACE INTO destinations (name, state, reason, since) VALUES (?, ?, ?, ?)",
            [destination.name, word.rawValue, reason, since.milliseconds])
    }

    static func all(in db: Database) throws -> [DestinationName: DestinationState] {
        try db.byDestination("SELECT name, state, reason, since FROM destinations") { row in
            DestinationState(try row.word(1), reason: try row.optionalText(2), since: try row.date(3))
        }
    }
}

extension WithheldPermission {
    static func all(in db: Database) throws -> [DestinationName: WithheldPermission] {
        try db.byDestination("SELECT destination, reason, since FROM withheld") { row in
            WithheldPermission(reason: try row.text(1), since: try row.date(2))
        }
    }
}

extension DestinationBackoff {
    static func all(in db: Database) throws -> [DestinationName: DestinationBackoff] {
        try db.byDestination("SELECT destination, kind, reason, since, until FROM backoffs") { row in
            DestinationBackoff(try row.word(1), reason: try row.text(2), since: try row.date(3), until: try row.date(4))
        }
    }
}

extension Database {
    /// Reads rows whose first column is the name of a destination.
    fileprivate func byDestination<T>(
        _ sql: String, _ value: (StoredRow) throws -> T
    ) throws -> [DestinationName: T] {
        try rows(sql).reduce(into: [:]) { all, row in all[DestinationName(try row.text(0))] = try value(row) }
    }
}
