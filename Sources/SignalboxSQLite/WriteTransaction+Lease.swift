import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// Claims, settlements and ends without an attempt.
extension WriteTransaction {
    // MARK: Claiming

    /// Leases due deliveries, oldest first, and records that their attempts have begun: after a crash, those attempts
    /// may have been made. `found`: the result of a search outside of this transaction; nil searches here. Skips a
    /// delivery with unreadable values, so that it does not block the others. An expired delivery ends here instead
    /// of being leased. Leases at most `limit`, and none more once their bodies have ``StoreLimits/bytesOfClaim``. The
    /// lane holds them at once, and receives them after the commit.
    mutating func claim(from destination: DestinationName, upTo limit: Int, of found: DueSearch?) throws -> [Lease] {
        var search = found ?? DueSearch(of: destination, limit: limit, file.lanes)
        if found == nil { try search.run(by: now, in: db) }
        var leases: [Lease] = []
        var (bytes, hasExpired) = (0, false)
        for due in search.found where !file.lanes.withHandOff({ $0.isHeld(due.id, of: destination) }) {
            guard bytes < StoreLimits.bytesOfClaim else {
                search.leave(from: due)
                break
            }
            do {
                let delivery = try DueDelivery(due.id, destination, by: now, in: db)
                if let lease = try begin(delivery, &hasExpired) {
                    leases.append(lease)
                    bytes += lease.body.count + (lease.payload?.count ?? 0)
                }
            } catch let error as DamagedValue {
                // A delivery that was intact when it was found has changed since.
                if found != nil { continue }
                file.health.recordDamage(StoreError(error, path: file.path))
                search.unreadable.append(due.id)
            }
        }
        // The next delivery of its key can be leased now.
        if hasExpired { search.isComplete = false }
        // Before the commit: the transaction after it may be a step of a purge, which leaves held deliveries.
        file.lanes.withHandOff { handOff in
            for lease in leases { handOff.withLane(destination) { $0.hold(lease) } }
        }
        effects.claimed.append((search, leases))
        return leases
    }

    /// Begins an attempt; nil when the delivery cannot be sent now, or has expired, which sets `hasExpired`. Throws
    /// ``DamagedValue`` for a delivery that cannot be read. Deliveries that wait for a route's transformation become
    /// due a minute later.
    private mutating func begin(_ due: DueDelivery, _ hasExpired: inout Bool) throws -> Lease? {
        if let notAfter = due.notAfter, notAfter.hasPassed(at: now, attempts: due.attempts - due.forgiven) {
            try expire(due.id, of: due.destination)
            hasExpired = true
            return nil
        }
        if due.awaitsTransformation {
            // A route is yet to transform the event, and its stored form may contain data that must not be sent.
            try db.run(
                "UPDATE deliveries SET due = ? WHERE id = ?", [now.milliseconds + StoreLimits.releaseGrace, due.id])
            return nil
        }
        // An attempt that was begun without a lease belongs to a process that ended.
        let attempts = max(due.attempts, due.begun)
        if due.begun > due.attempts {
            try recordInterrupted(due.id, number: due.begun)
            if due.notAfter == .afterFirstAttempt {
                // It does not use up the one attempt, even if the lease that follows is given back.
                try db.run("UPDATE deliveries SET forgiven = ? WHERE id = ?", [attempts, due.id])
            }
        }
        try db.run("UPDATE deliveries SET begun = ?, attempts = ? WHERE id = ?", [attempts + 1, attempts, due.id])
        return due.lease(after: attempts, holder: file.holder)
    }

    // MARK: Settling

    /// A lease is current while its attempt is the last one begun and has not ended. Arguments: the delivery and the
    /// number of its attempt.
    private static let currentLease = "id = ? AND state = 'waiting' AND begun = ? AND attempts < begun"

    /// Returns `lost` and changes no row when the lease is no longer current: another settlement, a purge or another
    /// process came first. A successor is inserted only with a recorded outcome. Waits count from the time of the
    /// transaction. A disabled destination stops after the commit.
    mutating func settle(_ settlement: Settlement) throws -> SettlementResult {
        let lease = settlement.lease
        var due: Date?
        let isRecorded: Bool
        switch settlement.outcome {
        case .delivered(let status): isRecorded = try record(settlement, .delivered, due: now, status: status)
        case .dead(let status, let reason):
            isRecorded = try record(settlement, .dead, due: now, status: status, reason: reason)
        case .retry(let wait, let status, let reason):
            isRecorded = try record(settlement, .waiting, due: now + wait, status: status, reason: reason)
            // A delivery with one attempt ends with it.
            let isOver =
                try isRecorded && lease.notAfter == .afterFirstAttempt
                && expire(lease.delivery, of: lease.destination)
            due = isOver ? nil : now + wait
        case .postponed(let wait, let reason):
            due = now + wait
            isRecorded = try giveBack(lease)
            // An attempt that was made keeps its own reason.
            if isRecorded {
                let stored = settlement.outcome.keepsDue ? nil : due?.milliseconds
                try db.run(
                    "UPDATE deliveries SET due = coalesce(?, due), reason = iif(attempts = 0, ?, reason) WHERE id = ?",
                    [stored, reason, lease.delivery])
            }
        case .expired:
            isRecorded = try giveBack(lease)
            if isRecorded { try end(lease.delivery, of: lease.destination) }
        case .returned:
            due = now
            isRecorded = try giveBack(lease)
        }
        effects.released.append((lease, isRecorded ? due : nil))
        guard isRecorded else { return .lost }
        if let reason = settlement.disabling {
            try db.set(.disabled, reason: reason, since: now, of: lease.destination)
            effects.disabled.insert(lease.destination)
        }
        if let successor = settlement.successor { try insert(successor) }
        return .recorded
    }

    /// Records an attempt that was made; false when the lease is not current. Moves the former attempt to `attempts`
    /// first. The prepared statement serves all settlements of the transaction. `status`, `reason`: of this attempt.
    /// `due`: the end of a delivery that has ended.
    private mutating func record(
        _ settlement: Settlement, _ state: DeliveryRecord.State, due: Date?, status: Int?, reason: String? = nil
    ) throws -> Bool {
        let lease = settlement.lease
        guard lease.fence.holder == file.holder else { return false }
        if lease.earlier > 0 {
            guard try isCurrent(lease) else { return false }
            try keepLastAttempt(of: lease.delivery)
        }
        let update =
            try self.update
            ?? RowStatement(
                db,
                sql: """
                    UPDATE deliveries SET state = ?, due = coalesce(?, due), attempts = begun, status = ?, reason = ?,
                        started_at = ?, duration = ?, error = ?, remote = ?, excerpt = ?,
                        exchange = ?
                    WHERE \(Self.currentLease)
                    """)
        self.update = update
        let attempt = settlement.attempt
        try update.run { row in
            row.bind(state.rawValue)
            row.bind(due?.milliseconds)
            row.bind(status)
            row.bind(reason)
            row.bind(attempt?.startedAt.milliseconds)
            row.bind(attempt.map { Int64($0.duration / .milliseconds(1)) })
            row.bind(attempt?.error)
            row.bind(attempt?.remote)
            row.bind(attempt.flatMap { $0.excerpt.isEmpty ? nil : $0.excerpt })
            row.bind(attempt?.exchange)
            row.bind(lease.delivery)
            row.bind(lease.fence.number)
        }
        guard update.changes > 0 else { return false }
        if state != .waiting { moves.end(state, of: lease.destination) }
        return true
    }

    /// Records that the attempt of a lease was not made; false when the lease is not current. Such an attempt cannot
    /// be forgiven, so `forgiven` is at most `attempts`. The number of the attempt is used again. The delivery is due
    /// as before.
    func giveBack(_ lease: Lease) throws -> Bool {
        guard lease.fence.holder == file.holder else { return false }
        let changed = try db.run(
            "UPDATE deliveries SET begun = attempts, forgiven = min(forgiven, attempts) WHERE \(Self.currentLease)",
            [lease.delivery, lease.fence.number])
        return changed > 0
    }

    /// Asked only for second and later attempts, before the former attempt is copied.
    private func isCurrent(_ lease: Lease) throws -> Bool {
        try db.flag("SELECT 1 FROM deliveries WHERE \(Self.currentLease)", [lease.delivery, lease.fence.number])
    }

    // MARK: Ends without an attempt

    /// Ends a delivery if it has expired. It may have changed since it was found. Has no effect on a delivery that
    /// was rescheduled or has ended. Counts no attempt, except one that a crash interrupted. Returns whether it has
    /// expired.
    @discardableResult
    mutating func expire(_ delivery: Int64, of destination: DestinationName) throws -> Bool {
        let isOver = try db.flag(
            """
            SELECT 1 FROM deliveries
            WHERE id = ? AND state = 'waiting' AND not_after <= ? AND (not_after > 0 OR attempts > forgiven)
            """, [delivery, now.milliseconds])
        if isOver { try end(delivery, of: destination) }
        return isOver
    }

    /// Sets the state `expired`. Has no effect on a delivery that has ended.
    private mutating func end(_ delivery: Int64, of destination: DestinationName) throws {
        let begun = try db.number(
            "SELECT begun FROM deliveries WHERE id = ? AND state = 'waiting' AND begun > attempts", [delivery])
        if let begun { try recordInterrupted(delivery, number: Int(begun)) }
        let ended = try db.run(
            "UPDATE deliveries SET state = 'expired', due = ? WHERE id = ? AND state = 'waiting'",
            [now.milliseconds, delivery])
        if ended > 0 { moves.end(.expired, of: destination) }
    }

    /// Records an attempt of a process that ended during it. `number`: the number of the attempt. The destination may
    /// have received it, so the attempt counts. It has the error `interrupted` and neither times nor a status.
    private func recordInterrupted(_ delivery: Int64, number: Int) throws {
        try keepLastAttempt(of: delivery)
        try db.run(
            """
            UPDATE deliveries SET started_at = NULL, duration = NULL, status = NULL, error = 'interrupted',
                reason = 'the gateway may have ended during this attempt; its outcome is unknown', remote = NULL,
                excerpt = NULL, exchange = NULL, attempts = ?
            WHERE id = ?
            """, [number, delivery])
    }

    /// Moves the last attempt, which is stored with its delivery, to the other attempts. Has no effect before the
    /// first attempt, and when the attempt was copied already.
    private func keepLastAttempt(of delivery: Int64) throws {
        try db.run(
            """
            INSERT OR IGNORE INTO attempts (delivery, number, \(AttemptRecord.columns))
            SELECT id, attempts, \(AttemptRecord.columns) FROM deliveries WHERE id = ? AND attempts > 0
            """, [delivery])
    }
}
