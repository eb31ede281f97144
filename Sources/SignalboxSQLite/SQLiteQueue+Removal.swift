import Foundation
import GRDB
package import SignalboxStore

/// Removal of events, deliveries, requests and categories.
extension SQLiteQueue {
    /// The most rows that one step removes. Small steps let other writes of the gateway run in between.
    private static let step = 500

    /// Many small transactions, so a crash in between loses no consistency. Returns the number of removed events.
    /// `pause` runs between the steps, without a lock. In this order: ended events, payloads, requests, keys of
    /// `dedupe`, in-app rows, events beyond the bytes, categories, actions. Then returns free pages to the file system.
    /// Throws at the first failure; the steps before it stay.
    package func remove(beyond retention: Retention, pause: () async -> Void) async throws(StoreError) -> Int {
        let now = now
        var removed = 0
        let limits = Retention.Limits(ended: now - retention.ended, dead: now - retention.dead)
        var position: Int64? = 0
        while let start = position {
            let step = try await removeStep(limits, after: start)
            removed += step.removed
            position = step.next
            if position != nil { await pause() }
        }
        try await forgetPayloads(pause: pause)
        // Before the limit of bytes, so that expired records do not cost events.
        while try await forget("requests", before: now - StoreLimits.requestMemory) { await pause() }
        while try await forget("duplicates", before: now - StoreLimits.longestDedupe) { await pause() }
        try await removeInApp(beyond: retention.inApp, at: now, pause: pause)
        removed += try await remove(beyondBytes: retention.bytes, at: now, pause: pause)
        try await forgetCategories(beyond: retention.categories, at: now, pause: pause)
        try await forgetActions()
        try await shrink()
        if removed > 0 { await file.checkpointer.copyLog() }
        return removed
    }

    /// Removes the oldest ended events, and requests that are as old, until the file is small enough. Events with
    /// waiting deliveries stay, so the file may remain larger. In-app rows do not count, because their own retention
    /// bounds them: without events they would not be fewer. `pause` is called between the steps. The size is that of
    /// the pages in use, without the write-ahead log.
    private func remove(
        beyondBytes limit: Int64, at now: Date, pause: () async -> Void
    ) async throws(StoreError) -> Int {
        let youngest = now - StoreLimits.shortestRequestMemory
        let limits = Retention.Limits(ended: .distantFuture, dead: .distantFuture)
        var removed = 0
        var position: Int64? = 0
        guard try await fileBytes() > limit else { return 0 }
        let limit = limit + (try await inAppBytes(at: now))
        while let start = position, try await fileBytes() > limit {
            let step = try await removeStep(limits, after: start)
            removed += step.removed
            position = step.next
            // After the last event, every request that may be removed.
            let age = min(step.last ?? youngest, youngest)
            while try await fileBytes() > limit, try await forget("requests", before: age) { await pause() }
            try await shrink()
            await pause()
        }
        return removed
    }

    /// Reads events after `start`, the oldest first, and removes those beyond the limits. `next`: the last event that
    /// was read; nil when no later one can be removed. `last`: the time at which it was accepted. One transaction. At
    /// most 500 events are read, whether or not they can be removed.
    private func removeStep(
        _ limits: Retention.Limits, after start: Int64
    ) async throws(StoreError) -> (removed: Int, next: Int64?, last: Date?) {
        try await write { db, now in
            let rows = try db.rows(
                """
                SELECT seq, accepted_at, EXISTS (SELECT 1 FROM deliveries WHERE event = seq AND state = 'waiting'),
                    EXISTS (SELECT 1 FROM deliveries WHERE event = seq AND state = 'dead')
                FROM events WHERE seq > ? ORDER BY seq LIMIT ?
                """, [start, Self.step])
            let old = try rows.filter { row in
                limits.allowRemoval(acceptedAt: try row.date(1), isWaiting: try row.flag(2), isDead: try row.flag(3))
            }
            if !old.isEmpty { try StoredNumbers.keep(in: db) }
            for event in old { try db.removeWithDeliveries(event: event.number(0)) }
            let mayHaveMore =
                try rows.count == Self.step && rows.contains { limits.allowRemoval(after: try $0.date(1), at: now) }
            guard mayHaveMore, let last = rows.last else { return (old.count, nil, nil) }
            return (old.count, try last.number(0).advanced(beyond: start, in: "events"), try last.date(1))
        }
    }

    /// Deliveries that ended without success, and waiting ones without an attempt in progress.
    package func undeliveredCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        let (condition, arguments) = filter.sql
        return try await file.read { db in
            try db.count(
                """
                SELECT count(*) FROM deliveries d
                WHERE \(condition) AND d.state != 'delivered' AND NOT (d.state = 'waiting' AND d.begun > d.attempts)
                """, arguments)
        }
    }

    /// Waiting deliveries whose attempt has begun.
    package func inProgressCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        let (condition, arguments) = filter.sql
        return try await file.read { db in
            try db.count(
                "SELECT count(*) FROM deliveries d WHERE \(condition) AND d.state = 'waiting' AND d.begun > d.attempts",
                arguments)
        }
    }

    // MARK: The file

    /// Bytes of the file that are in use, without the write-ahead log. Cheap: SQLite keeps these numbers in the file's
    /// header.
    func fileBytes() async throws(StoreError) -> Int64 {
        try await file.read { db in
            let pages = try db.number("PRAGMA page_count") ?? 0
            let free = try db.number("PRAGMA freelist_count") ?? 0
            return (pages - free) * (try db.number("PRAGMA page_size") ?? 0)
        }
    }

    /// Removes free pages from the file, some at a time. A file that an earlier version made keeps them for later use.
    /// Ends when no further page can be removed. The next whole checkpoint shortens the file. Throws when a write
    /// fails.
    func shrink() async throws(StoreError) {
        var before = Int64.max
        while true {
            let begun = ContinuousClock.now
            let free = try await write { db, _ in
                try db.execute(sql: "PRAGMA incremental_vacuum(1000)")
                return try db.number("PRAGMA freelist_count") ?? 0
            }
            guard free > 0, free < before else { return }
            before = free
            await leaveLock(after: begun.duration(to: .now))
        }
    }

    // MARK: Repeats and categories

    /// Forgets the oldest rows of a table. True when there may be more. `table`: `requests` or `duplicates`, a
    /// constant of the program.
    private func forget(_ table: String, before date: Date) async throws(StoreError) -> Bool {
        try await write { db, _ in
            try db.run(
                """
                DELETE FROM \(table) WHERE (source, key) IN (
                    SELECT source, key FROM \(table) WHERE at < ? ORDER BY at LIMIT \(Self.step))
                """, [date.milliseconds]) == Self.step
        }
    }

    /// Forgets categories that were not seen for too long, and those beyond the count. Removes up to two steps of
    /// categories in each transaction. Removed categories are no longer known to the writer, so the next event with
    /// one stores it again.
    private func forgetCategories(
        beyond retention: CategoryRetention, at now: Date, pause: () async -> Void
    ) async throws(StoreError) {
        let oldest = (now - retention.age).milliseconds
        // Each of the two subqueries finds up to one step of categories.
        while try await write({ [known = file.categories] db, _ in
            let count = try db.run(
                """
                DELETE FROM categories WHERE identifier IN (
                    SELECT identifier FROM (SELECT identifier FROM categories WHERE last_seen < :oldest LIMIT :step)
                    UNION SELECT identifier FROM (
                        SELECT identifier FROM categories ORDER BY last_seen DESC, identifier
                        LIMIT :step OFFSET :count))
                """, ["oldest": oldest, "step": Self.step, "count": retention.count])
            // Inside the transaction, so that later transactions record these categories again.
            if count > 0 { known.removeAll() }
            return count >= Self.step
        }) { await pause() }
    }
}

/// Removals within the caller's transaction. Each keeps the ledger consistent.
extension Database {
    /// Removes the event with its attempts, variants and waits. The caller has checked that no delivery waits. Counts
    /// each delivery in the ledger by its last state.
    fileprivate func removeWithDeliveries(event: Int64) throws {
        for row in try rows("SELECT id, destination, state FROM deliveries WHERE event = ?", [event]) {
            try countRemoved(row.word(2), of: row.text(1))
            try run("DELETE FROM attempts WHERE delivery = ?", [try row.number(0)])
        }
        try run("DELETE FROM deliveries WHERE event = ?", [event])
        try remove(event: event)
    }

    /// Removes an event that has no deliveries.
    private func remove(event: Int64) throws {
        for table in ["variants", "media_waits", "media_events", "event_files", "payloads", "reports"] {
            try run("DELETE FROM \(table) WHERE event = ?", [event])
        }
        try run("DELETE FROM events WHERE seq = ?", [event])
    }

    /// `delivery`: its id, destination, state and event. Removes the event, too, when it has no other delivery. A
    /// waiting delivery also sets the time of the first undelivered removal.
    func remove(delivery: StoredRow, at now: Date) throws {
        let (id, destination, event) = (try delivery.number(0), try delivery.text(1), try delivery.number(3))
        let state: DeliveryRecord.State = try delivery.word(2)
        try countRemoved(state, of: destination)
        if state == .waiting {
            try run(
                "UPDATE ledger SET undelivered_since = coalesce(undelivered_since, ?) WHERE destination = ?",
                [now.milliseconds, destination])
        }
        try run("DELETE FROM attempts WHERE delivery = ?", [id])
        try run("DELETE FROM deliveries WHERE id = ?", [id])
        try endWait(of: id, event: event)
        if try !flag("SELECT 1 FROM deliveries WHERE event = ?", [event]) { try remove(event: event) }
    }

    /// Counts a removed delivery in the ledger, so that an audit can tell how many there must be. Must run in the
    /// transaction that removes the delivery.
    private func countRemoved(_ state: DeliveryRecord.State, of destination: String) throws {
        let column = state.rawValue
        try run(
            """
            INSERT INTO ledger (destination, \(column)) VALUES (?, 1)
            ON CONFLICT (destination) DO UPDATE SET \(column) = \(column) + 1,
                \(column)_now = \(column)_now - 1
            """, [destination])
    }
}
