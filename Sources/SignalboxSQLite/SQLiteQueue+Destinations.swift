package import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Destinations that accept nothing for now.
extension SQLiteQueue {
    /// Only destinations that are not active. A paused one is reported as paused, even while it backs off. One snapshot
    /// of three small tables.
    package func statuses() async throws(StoreError) -> [DestinationName: DestinationStatus] {
        let now = now
        return try await file.read { db in
            DestinationStatus.all(
                states: try db.states(), withheld: try db.withheld(), backoffs: try db.backoffs(), at: now)
        }
    }

    /// The lanes follow after the commit, in the order of all commits. A resumed destination loses its withheld
    /// permission too, and its recorded backoff ends now, by which the gateway notices a resume by another process.
    /// Durable when it returns. The time of the status is that of the transaction, even for a repeated pause.
    package func set(
        _ state: DestinationState?, of destination: DestinationName, until: Date?, as action: OperatorAction?
    ) async throws(StoreError) {
        try await write(requiringPlace: true) { db, now in
            if let action { _ = try db.record(action, count: nil, at: now) }
            if let state { return try db.set(state, reason: action?.reason, since: now, until: until, of: destination) }
            try db.run("DELETE FROM destinations WHERE name = ?", [destination.name])
            try db.run("DELETE FROM withheld WHERE destination = ?", [destination.name])
            try db.endBackoff(of: destination, at: now)
        } then: { [file, weak self] _ in
            guard state == nil else { return file.lanes.deactivate(destination, until: until) }
            // Otherwise the next tick would report this resume as one of another process.
            self?.recordedBackoffs.withLock { $0[destination] = nil }
            file.lanes.permit(by: destination)
            file.lanes.activate(destination)
        }
    }

    /// Ends the pauses that are over, each with an action of the gateway in the same transaction. A pause that was
    /// changed meanwhile stays. Reads memory only, unless a pause is over. Returns the resumed destinations.
    func endPauses() async throws(StoreError) -> [DestinationName] {
        var resumed: [DestinationName] = []
        for destination in file.lanes.endedPauses(at: now) {
            let isOver: Bool = try await write { db, now in
                let count = try db.run(
                    "DELETE FROM destinations WHERE name = ? AND state = 'paused' AND until <= ?",
                    [destination.name, now.milliseconds])
                guard count > 0 else { return false }
                let action = OperatorAction(
                    by: "gateway", via: .gateway, "destinations.resume", target: destination.name,
                    reason: "the pause is over")
                _ = try db.record(action, count: nil, at: now)
                return true
            } then: { [file] isOver in
                if isOver { file.lanes.endPause(of: destination, at: file.clock.now) }
            }
            if isOver {
                resumed.append(destination)
            } else {
                try await adoptStatuses()
            }
        }
        return resumed
    }

    /// Passes the stored statuses to the lanes. Reads on the writer's connection: a change that this process commits
    /// between the read and its effect would be lost in memory.
    func adoptStatuses() async throws(StoreError) {
        do {
            try await file.pool.writeWithoutTransaction { [file] db in
                try db.inTransaction(.deferred) {
                    try file.adoptStatuses(in: db)
                    return .commit
                }
            }
        } catch { throw file.failure(error) }
    }

    /// Reads the waits only, which are few next to the deliveries: `CROSS JOIN` keeps SQLite from beginning with the
    /// deliveries.
    package func heldCounts() async throws(StoreError) -> [DestinationName: Int] {
        try await file.read { db in
            try db.rows(
                """
                SELECT d.destination, count(*) FROM media_waits w CROSS JOIN deliveries d ON d.id = w.delivery
                WHERE d.state = 'waiting' AND d.begun = 0 GROUP BY d.destination
                """
            ).reduce(into: [:]) { $0[DestinationName(try $1.text(0))] = try $1.count(1) }
        }
    }

    /// Answered from memory; never reads the file.
    package func isActive(_ destination: DestinationName) -> Bool { file.lanes.isActive(destination) }

    // MARK: Permissions

    /// Answered from memory; never reads the file.
    package func isWithheld(by destination: DestinationName) -> Bool { file.lanes.isWithheld(by: destination) }

    /// The lane stops before the write, so a failed write does not let deliveries pass. Keeps the time of the first
    /// refusal. Throws when the write fails; the lane stays stopped then.
    package func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError) {
        file.lanes.withhold(by: destination)
        try await write { db, now in
            try db.run(
                """
                INSERT INTO withheld (destination, reason, since) VALUES (?, ?, ?)
                ON CONFLICT (destination) DO UPDATE SET reason = excluded.reason
                """, [destination.name, reason, now.milliseconds])
        } then: { [file] _ in
            // A read of other changes may not have seen it.
            file.lanes.withhold(by: destination)
        }
    }

    /// The lane continues after the write. When the write fails, the lane stays stopped.
    package func permit(by destination: DestinationName) async throws(StoreError) {
        try await write { db, _ in
            try db.run("DELETE FROM withheld WHERE destination = ?", [destination.name])
        } then: { [file] _ in
            file.lanes.permit(by: destination)
        }
    }

    // MARK: Backoffs

    /// Nil removes the backoff. A backoff of the same kind keeps the time at which it began. The caller reads its
    /// times from the clock of the store.
    package func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError) {
        recordedBackoffs.withLock { $0[destination] = nil }
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
        recordedBackoffs.withLock { $0[destination] = backoff?.until.milliseconds }
    }

    /// Called at the start, when no lane is backing off. Writes only if there are some. A backoff of a former process
    /// would otherwise be shown as current.
    package func forgetBackoffs() async throws(StoreError) {
        guard !(try await file.read { try $0.backoffs() }).isEmpty else { return }
        try await write { db, _ in try db.run("DELETE FROM backoffs") }
    }
}

/// Lanes keep in memory which destinations accept nothing.
extension SQLiteFile {
    /// Reads the destinations that accept nothing, and passes them to the lanes. Called at the start, and when
    /// another process changed the file. `db`: any connection; the read sees one snapshot if it is in a transaction.
    func adoptStatuses(in db: Database) throws {
        lanes.adopt(inactive: try db.states(), withheld: Set(try db.withheld().keys))
    }
}

/// The tables `destinations`, `withheld` and `backoffs`.
extension Database {
    /// Replaces an earlier state. `since`: the time of the transaction. `until`: the end of a pause.
    func set(
        _ state: DestinationState, reason: String?, since: Date, until: Date? = nil, of destination: DestinationName
    ) throws {
        try run(
            "INSERT OR REPLACE INTO destinations (name, state, reason, since, until) VALUES (?, ?, ?, ?, ?)",
            [destination.name, state.rawValue, reason, since.milliseconds, until?.milliseconds])
    }

    /// Paused and disabled destinations.
    fileprivate func states() throws -> [DestinationName: DestinationStatus] {
        try byDestination("SELECT name, state, reason, since, until FROM destinations") { row in
            try DestinationStatus(row, from: 1)
        }
    }

    /// Destinations that wait for a permission.
    fileprivate func withheld() throws -> [DestinationName: DestinationStatus] {
        try byDestination("SELECT destination, reason, since FROM withheld") { row in
            try DestinationStatus(withheld: row, from: 1)
        }
    }

    /// Destinations that the gateway leaves alone for now.
    fileprivate func backoffs() throws -> [DestinationName: DestinationBackoff] {
        try byDestination("SELECT destination, kind, reason, since, until FROM backoffs") { row in
            try DestinationBackoff(row, from: 1)
        }
    }

    /// Reads rows whose first column is the name of a destination. The tables are small: one row for each destination
    /// at most.
    private func byDestination<T>(_ sql: String, _ value: (StoredRow) throws -> T) throws -> [DestinationName: T] {
        try rows(sql).reduce(into: [:]) { all, row in all[DestinationName(try row.text(0))] = try value(row) }
    }
}
