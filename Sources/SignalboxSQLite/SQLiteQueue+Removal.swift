import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

/// How the queue gets smaller. Everything here is done in small steps: between two of them others write.
extension SQLiteQueue {
    /// The most events that one step removes.
    private static let step = 500

    /// Removes what has been kept long enough, and what the file has no room for; returns how many events that were.
    /// `pause` is called between two steps.
    package func remove(
        beyond retention: Retention, pause: () async -> Void
    ) async throws(StoreError) -> Int {
        let now = now()
        let ended = now.addingTimeInterval(-(retention.ended / .seconds(1)))
        let dead = now.addingTimeInterval(-(retention.dead / .seconds(1)))
        var removed = try await removeAll(endedBefore: ended, deadBefore: dead, pause: pause)
        // First what is not remembered any more anyway.
        try await forgetRepeats(pause: pause)
        let youngest = now.addingTimeInterval(-(StoreLimits.shortestRequestMemory / .seconds(1)))
        var place: Int64? = 0
        while let start = place, try await fileBytes() > retention.bytes {
            let step = try await removeStep(endedBefore: .distantFuture, deadBefore: .distantFuture, after: start)
            removed += step.removed
            place = step.next
            // Requests as old as the events that were looked at; where there are no further ones, all that may go.
            let age = min(step.last ?? youngest, youngest)
            try await forgetRequests(before: age, pause: pause) { () throws(StoreError) in
                try await fileBytes() > retention.bytes
            }
            try await shrink()
            await pause()
        }
        _ = try await forgetCategories(beyond: retention.categories, pause: pause)
        try await shrink()
        return removed
    }

    private func removeAll(
        endedBefore ended: Date, deadBefore dead: Date, pause: () async -> Void
    ) async throws(StoreError) -> Int {
        var removed = 0
        var place: Int64 = 0
        while true {
            let step = try await removeStep(endedBefore: ended, deadBefore: dead, after: place)
            removed += step.removed
            guard let next = step.next else { return removed }
            place = next
            await pause()
        }
    }

    /// Looks at so many events behind one, the oldest first, and removes those that may go. `next`: the last of them, where
    /// there may be more; once all of them are too young, those behind them are not looked at. `last`: when that one was
    /// accepted.
    private func removeStep(
        endedBefore ended: Date, deadBefore dead: Date, after place: Int64
    ) async throws(StoreError) -> (removed: Int, next: Int64?, last: Date?) {
        let latest = max(ended, dead)
        return try await write { db in
            let rows = try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT seq, accepted_at,
                        EXISTS (SELECT 1 FROM deliveries WHERE event = seq AND state = 'waiting'),
                        EXISTS (SELECT 1 FROM deliveries WHERE event = seq AND state = 'dead')
                    FROM events WHERE seq > ? ORDER BY seq LIMIT ?
                    """, arguments: [place, Self.step])
            let old = try rows.filter { row in
                let (accepted, waits, isDead) = (try row.number(1), try row.flag(2), try row.flag(3))
                return !waits && accepted < (isDead ? dead : ended).milliseconds
            }
            if !old.isEmpty { try StoredNumbers.keep(in: db) }
            try Self.remove(old.map { try $0.number(0) }, in: db)
            let mayHaveMore = try rows.count == Self.step && rows.contains { try $0.number(1) < latest.milliseconds }
            guard mayHaveMore, let last = rows.last else { return (old.count, nil, nil) }
            return (old.count, try last.number(0).advanced(beyond: place, in: "events"), try last.date(1))
        }
    }

    private static func remove(_ events: [Int64], in db: Database) throws {
        for event in events {
            for row in try StoredRow.fetchAll(
                db.cachedStatement(sql: "SELECT id, destination, state FROM deliveries WHERE event = ?"),
                arguments: [event])
            {
                try book(row.word(2), of: row.text(1), in: db)
                try db.cachedStatement(sql: "DELETE FROM attempts WHERE delivery = ?").execute(arguments: [
                    try row.number(0)
                ])
            }
            try db.cachedStatement(sql: "DELETE FROM deliveries WHERE event = ?").execute(arguments: [event])
            try remove(event, in: db)
        }
    }

    /// An event that has no deliveries any more.
    private static func remove(_ event: Int64, in db: Database) throws {
        for table in ["variants", "media_waits", "media_events", "event_files"] {
            try db.cachedStatement(sql: "DELETE FROM \(table) WHERE event = ?").execute(arguments: [event])
        }
        try db.cachedStatement(sql: "DELETE FROM events WHERE seq = ?").execute(arguments: [event])
    }

    /// Records when the first undelivered delivery of a destination was removed.
    private static func noteUndelivered(_ destination: String, at now: Date, in db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE ledger SET undelivered_since = coalesce(undelivered_since, ?) WHERE destination = ?"
        ).execute(arguments: [now.milliseconds, destination])
    }

    /// Counts a delivery that is removed, so that an audit can tell how many there must be.
    private static func book(
        _ state: DeliveryRecord.State, of destination: String, in db: Database
    ) throws {
        let column = state.rawValue
        try db.cachedStatement(
            sql: """
                INSERT INTO ledger (destination, \(column)) VALUES (?, 1)
                ON CONFLICT (destination) DO UPDATE SET \(column) = \(column) + 1
                """
        ).execute(arguments: [destination])
    }

    /// The number of waiting deliveries that ``purge(_:sparingWaiting:)`` would remove.
    package func undeliveredCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        let (condition, arguments) = filter.sql
        return try await read { db in
            try Int.fetchOne(
                db,
                sql:
                    "SELECT count(*) FROM deliveries d WHERE \(condition) AND d.state = 'waiting' AND d.begun = d.attempts",
                arguments: arguments) ?? 0
        }
    }

    /// Permanently removes deliveries, and events that have none left; returns the number of deliveries. Removes
    /// waiting ones too, unless they are spared, but none in progress, here or in another process.
    package func purge(_ filter: DeliveryFilter, sparingWaiting: Bool) async throws(StoreError) -> Int {
        let (condition, arguments) = filter.sql
        let now = now()
        var purged = 0
        var place: Int64? = 0
        while let start = place {
            let step = try await write { [lanes] db in
                let rows = try StoredRow.fetchAll(
                    db,
                    sql: """
                        SELECT d.id, d.destination, d.state, d.event FROM deliveries d
                        WHERE \(condition) AND d.id > ? AND NOT (d.state = 'waiting' AND (d.begun > d.attempts OR ?))
                        ORDER BY d.id LIMIT ?
                        """, arguments: arguments + [start, sparingWaiting, Self.step])
                let free = try rows.filter { row in
                    let (id, destination) = (try row.number(0), DestinationName(try row.text(1)))
                    return lanes.withHandOff { !$0.isHeld(id, of: destination) }
                }
                if !free.isEmpty { try StoredNumbers.keep(in: db) }
                for row in free {
                    let state: DeliveryRecord.State = try row.word(2)
                    try Self.book(state, of: row.text(1), in: db)
                    if state == .waiting { try Self.noteUndelivered(row.text(1), at: now, in: db) }
                    let (id, event) = (try row.number(0), try row.number(3))
                    try db.cachedStatement(sql: "DELETE FROM attempts WHERE delivery = ?").execute(arguments: [id])
                    try db.cachedStatement(sql: "DELETE FROM deliveries WHERE id = ?").execute(arguments: [id])
                    try SQLiteWriter.endWait(of: id, event: event, in: db)
                    let hasOthers = try Bool.fetchOne(
                        db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM deliveries WHERE event = ?)"),
                        arguments: [event])
                    if hasOthers == false { try Self.remove(event, in: db) }
                }
                let last = rows.count == Self.step ? try rows.last?.number(0) : nil
                return (count: free.count, next: try last?.advanced(beyond: start, in: "deliveries"))
            }
            purged += step.count
            place = step.next
        }
        try await shrink()
        return purged
    }

    // MARK: The file

    /// Of what is in use, the write-ahead log left out.
    package func fileBytes() async throws(StoreError) -> Int64 {
        try await read { db in
            let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let free = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            return (pages - free) * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        }
    }

    /// Gives free pages back to the file system, some at a time. A file that was made without the ability keeps them for
    /// what comes.
    private func shrink() async throws(StoreError) {
        var before = Int64.max
        while true {
            let free = try await write { db in
                try db.execute(sql: "PRAGMA incremental_vacuum(1000)")
                return try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            }
            guard free > 0, free < before else { return }
            before = free
        }
    }

    // MARK: Repeats

    private func forgetRepeats(pause: () async -> Void) async throws(StoreError) {
        let now = now()
        let requests = now.addingTimeInterval(-(StoreLimits.requestMemory / .seconds(1)))
        let duplicates = now.addingTimeInterval(-(StoreLimits.longestDedupe / .seconds(1)))
        try await forgetRequests(before: requests, pause: pause) { () throws(StoreError) in true }
        while try await forget("duplicates", before: duplicates) { await pause() }
    }

    /// The oldest first, as long as `goesOn` says so.
    private func forgetRequests(
        before date: Date, pause: () async -> Void, while goesOn: () async throws(StoreError) -> Bool
    ) async throws(StoreError) {
        while try await goesOn(), try await forget("requests", before: date) { await pause() }
    }

    /// Forgets the oldest of a table; true when there may be more.
    private func forget(_ table: String, before date: Date) async throws(StoreError) -> Bool {
        try await write { db in
            try db.cachedStatement(
                sql: """
                    DELETE FROM \(table) WHERE (source, key) IN (
                        SELECT source, key FROM \(table) WHERE at < ? ORDER BY at LIMIT \(Self.step))
                    """
            ).execute(arguments: [date.milliseconds])
            return db.changesCount == Self.step
        }
    }
}
