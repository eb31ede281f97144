import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

extension SQLiteWriter {
    /// Leases due deliveries, oldest first, and records that their attempts have begun: after a crash, those attempts
    /// may have been made. `found`: the result of a search outside of this transaction; nil searches here. Skips a
    /// delivery with unreadable values, so that it does not block the others.
    func claim(
        from destination: DestinationName, upTo limit: Int, of found: DueSearch?, in db: Database,
        _ transaction: inout Transaction
    ) throws -> [Lease] {
        let now = transaction.now.milliseconds
        var search = found ?? DueSearch(of: destination, by: now, limit: limit, lanes)
        if found == nil { try search.run(in: db) }
        let held = lanes.withHandOff { $0.held(of: destination) }
        var leases: [Lease] = []
        var unreadable = search.unreadable
        for due in search.found.prefix(limit) where !held.contains(due.id) {
            do {
                let delivery = try DueDelivery(due.id, destination, now, in: db)
                if let lease = try begin(delivery, now, in: db) { leases.append(lease) }
            } catch let error as DamagedValue {
                // It was intact when it was found, so it has changed since.
                if found != nil { continue }
                health.note(StoreError(error, path: path))
                unreadable.append(due.id)
            }
        }
        transaction.claimed.append(
            ClaimedFromFile(
                destination: destination, leases: leases, isWhole: search.isWhole, nextDue: search.nextDue,
                lastKey: search.found.prefix(limit).last { $0.key != nil }?.key, unreadable: unreadable))
        return leases
    }

    /// Begins an attempt; nil when the delivery has expired, which is then recorded.
    private func begin(_ due: DueDelivery, _ now: Int64, in db: Database) throws -> Lease? {
        let id = due.lease.delivery
        if let notAfter = due.lease.notAfter, notAfter.milliseconds <= now {
            try expire(id, in: db)
            return nil
        }
        if due.awaitsItsShape {
            // A route is yet to make something else of it: as it is, it says what nobody was to hear.
            try db.cachedStatement(sql: "UPDATE deliveries SET due = ? WHERE id = ?")
                .execute(arguments: [now + Int64(Self.releaseGrace * 1000), id])
            return nil
        }
        var attempts = due.lease.attempts
        if due.begun > attempts {
            try noteInterrupted(id, number: due.begun, in: db)
            attempts = due.begun
        }
        try db.cachedStatement(sql: "UPDATE deliveries SET begun = ?, attempts = ? WHERE id = ?")
            .execute(arguments: [attempts + 1, attempts, id])
        return due.lease.begun(after: attempts, forgiven: due.forgiven)
    }

    /// Nobody holds this delivery, yet an attempt was begun: it belongs to a process that is no more.
    func noteInterrupted(_ id: Int64, number: Int, in db: Database) throws {
        try keepLastAttempt(of: id, in: db)
        try db.cachedStatement(
            sql: """
                UPDATE deliveries SET started_at = NULL, duration = NULL, status = NULL, error = 'interrupted',
                    reason = 'the gateway ended before it was known how this attempt went', remote = NULL,
                    excerpt = NULL, attempts = ?
                WHERE id = ?
                """
        ).execute(arguments: [number, id])
    }
}
