import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// Changes of all deliveries that a filter selects.
///
/// A change works in steps: a read finds the next deliveries, and a short transaction changes those that still match.
/// So a search through a large queue does not hold the lock of the writer, and new events wait for one step at most.
/// In a command next to a gateway, a pause after each step lets the gateway take the lock.
extension SQLiteQueue {
    /// The most deliveries that one step changes.
    private static let bulkStep = 500

    /// One look-up in the ledger, which keeps its rows after the deliveries are removed.
    package func knows(_ destination: DestinationName) async throws(StoreError) -> Bool {
        try await file.read { try $0.flag("SELECT 1 FROM ledger WHERE destination = ?", [destination.name]) }
    }

    /// An empty transaction comes first. Everything that ended before it is in the snapshot of the preview; everything
    /// that ends later has its time or a later one. So the preview throws ``StoreError/stalled(for:)`` while a commit
    /// hangs.
    package func preview(_ change: BulkChange, of filter: DeliveryFilter) async throws(StoreError) -> BulkPreview {
        if change == .purge { try await giveBackFresh(for: filter) }
        let now = try await write { _, now in now }
        var selection = filter
        selection.endedBefore = min(filter.endedBefore ?? now, now)
        let (condition, arguments) = change.sql(selection, leased: change == .purge ? leased(by: filter) : nil)
        return try await file.read { db in
            let rows = try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT d.destination, count(*), min(d.id), max(d.id) FROM deliveries d WHERE \(condition)
                    GROUP BY d.destination
                    """, arguments: arguments)
            var preview = BulkPreview(at: now)
            for row in rows { preview.byDestination[DestinationName(try row.text(0))] = try row.count(1) }
            preview.count = preview.byDestination.values.reduce(0, +)
            preview.through = try rows.map { try $0.number(3) }.max() ?? 0
            let first = try rows.map { try $0.number(2) }.min() ?? 0
            let times = try [first, preview.through].compactMap { try db.acceptedAt(delivery: $0) }.sorted()
            if let oldest = times.first, let newest = times.last { preview.accepted = oldest...newest }
            return preview
        }
    }

    /// Requeues deliveries. The argument before those of the condition: pairs of their ids and due times, as JSON. An
    /// index of the destination would lead to all of its waiting deliveries, for each pair.
    static func requeueing(_ condition: String) -> String {
        """
        UPDATE deliveries AS d NOT INDEXED SET state = 'waiting', forgiven = d.begun,
            due = max(json_extract(j.value, '$[1]'), coalesce(d.not_before, 0))
        FROM json_each(?) AS j WHERE d.id = json_extract(j.value, '$[0]') AND \(condition)
        """
    }

    /// The ids of the next step. The arguments after those of the condition: the last id before them, and their number.
    /// An index of waiting deliveries would sort all of them for each step.
    static func nextStep(_ condition: String, of filter: DeliveryFilter) -> String {
        let hint = filter.event == nil && (filter.state ?? .waiting) == .waiting ? " NOT INDEXED" : ""
        return "SELECT d.id FROM deliveries d\(hint) WHERE \(condition) AND d.id > ? ORDER BY d.id LIMIT ?"
    }

    /// Numbers of attempts continue; only the budget starts anew. Wakes every lane after each step, so that attempts
    /// begin before the last one. Throws the first failure; deliveries of earlier steps stay requeued, and the action
    /// has their number.
    package func retry(
        _ filter: DeliveryFilter, spread: BulkSpread?, as action: OperatorAction?
    ) async throws(StoreError) -> Int {
        let start = now.milliseconds
        let (condition, arguments) = BulkChange.retry.sql(filter, leased: nil)
        // Named deliveries that cannot be requeued are an error of the request; the caller records that.
        let isNamed = filter.ids != nil
        return try await change(.retry, filter, as: action, recordingNone: !isNamed) { db, ids, done, _ in
            try db.countRequeued(
                "d.id IN (SELECT value FROM json_each(?)) AND \(condition)",
                ["[\(ids.map { String($0) }.joined(separator: ","))]"] + arguments)
            let rows = ids.enumerated().map { "[\($1),\(start + (spread?.milliseconds(at: done + $0) ?? 0))]" }
            try db.execute(
                sql: Self.requeueing(condition), arguments: ["[\(rows.joined(separator: ","))]"] + arguments)
            return db.changesCount
        } afterStep: { [self] in
            wakeAll()
        }
    }

    /// Deliveries that a lane has claimed stay. A process next to the owner leaves all whose attempt has begun. Returns
    /// the number of removed deliveries. The conditions are evaluated again in each step, so a delivery that changes
    /// meanwhile is judged by its new state. Then returns free pages to the file system. Throws the first failure; the
    /// steps before it are committed.
    package func purge(
        _ filter: DeliveryFilter, sparingUndelivered: Bool, as action: OperatorAction?
    ) async throws(StoreError) -> Int {
        try await giveBackFresh(for: filter)
        let (condition, arguments) = BulkChange.purge.sql(
            filter, sparingUndelivered: sparingUndelivered, leased: noneLeased)
        let lanes = file.lanes
        let purged = try await change(.purge, filter, sparingUndelivered: sparingUndelivered, as: action) {
            db, ids, _, now in
            let rows = try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT d.id, d.destination, d.state, d.event FROM deliveries d NOT INDEXED
                    WHERE d.id IN (SELECT value FROM json_each(?)) AND \(condition)
                    """, arguments: ["[\(ids.map { String($0) }.joined(separator: ","))]"] + arguments)
            let free = try rows.filter { row in
                let (id, destination) = (try row.number(0), DestinationName(try row.text(1)))
                return lanes.withHandOff { !$0.isHeld(id, of: destination) }
            }
            if !free.isEmpty { try StoredNumbers.keep(in: db) }
            for row in free { try db.remove(delivery: row, at: now) }
            return free.count
        } afterStep: { [self] in
            // The next delivery of a key may be ready.
            file.lanes.wakeLanes(at: now)
        }
        try await shrink()
        if purged > 0 { await file.checkpointer.copyLog() }
        return purged
    }

    /// Returns deliveries in memory to the file if the filter may select them, so that a purge can remove them.
    private func giveBackFresh(for filter: DeliveryFilter) async throws(StoreError) {
        if (filter.state ?? .waiting) == .waiting { try await giveBackFresh(of: filter.destination) }
    }

    /// The leases of this process that the filter may select, as a JSON array of deliveries. Nil next to the owner,
    /// whose leases only the owner knows.
    private func leased(by filter: DeliveryFilter) -> String? {
        guard isOwner else { return nil }
        let ids = file.lanes.withHandOff { handOff in
            handOff.lanes.filter { $0.key == filter.destination ?? $0.key }.values.flatMap { Array($0.held.keys) }
        }
        return "[\(ids.map(\.description).joined(separator: ","))]"
    }

    /// For the steps of a purge, which look at the leases of this process themselves: those change meanwhile. Nil next
    /// to the owner.
    private var noneLeased: String? { isOwner ? "[]" : nil }

    /// Runs the steps of a change, from old deliveries to new ones. `step` changes some deliveries in a transaction,
    /// after `done` others, and returns their number. The first step makes the row of the action, unless it changes
    /// nothing and `recordingNone` is false; the other steps add to its count.
    private func change(
        _ change: BulkChange, _ filter: DeliveryFilter, sparingUndelivered: Bool = false, as action: OperatorAction?,
        recordingNone: Bool = true,
        step: @escaping @Sendable (Database, _ ids: [Int64], _ done: Int, Date) throws -> Int, afterStep: () -> Void
    ) async throws(StoreError) -> Int {
        let (condition, arguments) = change.sql(filter, sparingUndelivered: sparingUndelivered, leased: noneLeased)
        var (changed, position, entry) = (0, Int64?.some(0), Int64?.none)
        while let start = position {
            let (ids, next) = try await file.read { db in
                let ids = try StoredRow.fetchAll(
                    db, sql: Self.nextStep(condition, of: filter), arguments: arguments + [start, Self.bulkStep]
                ).map { try $0.number(0) }
                let last = ids.count == Self.bulkStep ? ids.last : nil
                return (ids, try last?.advanced(beyond: start, in: "deliveries"))
            }
            let begun = ContinuousClock.now
            let result = try await write(requiringPlace: true) { [changed, entry] db, now -> (Int, Int64?) in
                let count = try step(db, ids, changed, now)
                guard let action, count > 0 || entry != nil || recordingNone else { return (count, entry) }
                return (count, try db.count(count, in: entry, of: action, at: now))
            }
            changed += result.0
            entry = result.1
            position = next
            afterStep()
            if position != nil { await leaveLock(after: begun.duration(to: .now)) }
        }
        return changed
    }

    /// Leaves the lock of the file to other processes between two steps. `time`: how long the step took.
    func leaveLock(after time: Duration) async {
        let rest = Self.rest(after: time, isOwner: isOwner)
        // ^C cancels the sleep; the next step then ends the work.
        if rest > .zero { try? await Task.sleep(for: rest) }
    }

    /// The pause after a step that took this time. SQLite polls for the lock every 100 ms, so a gateway would rarely
    /// find it free between two steps of a command. The owner's own writes wait in one queue and need no pause.
    static func rest(after time: Duration, isOwner: Bool) -> Duration {
        isOwner ? .zero : min(max(time, .milliseconds(1)), .milliseconds(100))
    }
}

extension BulkChange {
    /// The deliveries that the change may touch, among those of a filter. `sparingUndelivered`: for a purge; permits
    /// delivered ones only. `leased`: for a purge; the deliveries to leave, as a JSON array. Without it, those whose
    /// attempt has begun, which include the ones that a crash interrupted.
    fileprivate func sql(
        _ filter: DeliveryFilter, sparingUndelivered: Bool = false, leased: String?
    ) -> (condition: String, arguments: StatementArguments) {
        let (condition, arguments) = filter.sql
        switch self {
        case .retry:
            let own = """
                (d.state = 'dead' OR d.state = 'waiting'
                    AND NOT EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id AND d.begun = 0))
                """
            return ("\(condition) AND \(own)", arguments)
        case .purge:
            let isLeased = leased == nil ? "1" : "d.id IN (SELECT value FROM json_each(?))"
            let own = """
                NOT (d.state = 'waiting' AND d.begun > d.attempts AND \(isLeased))
                    AND (d.state = 'delivered' OR \(sparingUndelivered ? 0 : 1))
                """
            return ("\(condition) AND \(own)", leased.map { arguments + [$0] } ?? arguments)
        }
    }
}

extension Database {
    /// When the event of a delivery was accepted; nil for an unknown delivery.
    fileprivate func acceptedAt(delivery: Int64) throws -> Date? {
        try row(
            "SELECT accepted_at FROM events WHERE seq = (SELECT event FROM deliveries WHERE id = ?)", [delivery]
        ).map { try $0.date(0) }
    }

    /// Adds the deliveries of a step to the row of the action, which the first step makes.
    fileprivate func count(_ more: Int, in entry: Int64?, of action: OperatorAction, at now: Date) throws -> Int64 {
        guard let entry else { return try record(action, count: more, at: now) }
        try run("UPDATE actions SET count = count + ? WHERE id = ?", [more, entry])
        return entry
    }
}
