import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

extension SQLiteWriter {
    func settle(_ settlement: Settlement, in db: Database, _ transaction: inout Transaction) throws {
        let lease = settlement.lease
        switch settlement.outcome {
        case .delivered(let status):
            try record(settlement, state: "delivered", due: nil, status: status, reason: nil, in: db, &transaction)
        case .retry(let due, let status, let reason):
            try record(settlement, state: "waiting", due: due, status: status, reason: reason, in: db, &transaction)
        case .dead(let status, let reason):
            try record(settlement, state: "dead", due: nil, status: status, reason: reason, in: db, &transaction)
        case .expired:
            try giveBack(lease, in: db)
            try expire(lease.delivery, in: db)
        case .postponed(let due, let reason):
            try giveBack(lease, in: db)
            // An attempt that was made keeps its own reason.
            try db.cachedStatement(
                sql: "UPDATE deliveries SET due = ?, reason = iif(attempts = 0, ?, reason) WHERE id = ?"
            ).execute(arguments: [due.milliseconds, reason, lease.delivery])
        case .returned: try giveBack(lease, in: db)
        }
        if let reason = settlement.disabling {
            let state = DestinationState(.disabled, reason: reason, since: transaction.now)
            try state.write(for: lease.destination, in: db)
            transaction.disabled[lease.destination] = state
        }
        if let successor = settlement.successor { try insert(successor, in: db, &transaction) }
        transaction.released.append((lease, settlement.outcome.nextAttempt(now: transaction.now)))
    }

    /// The attempt was not made; nor can it have been forgiven.
    func giveBack(_ lease: Lease, in db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE deliveries SET begun = attempts, forgiven = min(forgiven, attempts) WHERE id = ?"
        ).execute(arguments: [lease.delivery])
    }

    /// Ends a delivery that has expired by `now`. Checks again, because it may have changed since it was found. Begun
    /// without a lease: a previous process ended during the attempt.
    func expire(_ delivery: Int64, by now: Date, in db: Database) throws {
        let isOver = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT state = 'waiting' AND not_after <= ? FROM deliveries WHERE id = ?"),
            arguments: [now.milliseconds, delivery])
        if isOver == true { try expire(delivery, in: db) }
    }

    /// Ends a delivery that is known to have expired.
    func expire(_ delivery: Int64, in db: Database) throws {
        let begun = try Int.fetchOne(
            db.cachedStatement(
                sql: "SELECT begun FROM deliveries WHERE id = ? AND state = 'waiting' AND begun > attempts"),
            arguments: [delivery])
        if let begun { try noteInterrupted(delivery, number: begun, in: db) }
        try db.cachedStatement(sql: "UPDATE deliveries SET state = 'expired' WHERE id = ? AND state = 'waiting'")
            .execute(arguments: [delivery])
    }

    private func record(
        _ settlement: Settlement, state: String, due: Date?, status: Int?, reason: String?, in db: Database,
        _ transaction: inout Transaction
    ) throws {
        let delivery = settlement.lease.delivery
        if settlement.lease.earlier > 0 { try keepLastAttempt(of: delivery, in: db) }
        let attempt = settlement.attempt
        let update =
            try transaction.update
            ?? RowStatement(
                db,
                sql: """
                    UPDATE deliveries SET state = ?, due = coalesce(?, due), attempts = begun, status = ?, reason = ?,
                        started_at = ?, duration = ?, error = ?, remote = ?, excerpt = ?
                    WHERE id = ?
                    """)
        transaction.update = update
        try update.run { row in
            row.bind(state)
            row.bind(due?.milliseconds)
            row.bind(status)
            row.bind(reason)
            row.bind(attempt?.startedAt.milliseconds)
            row.bind(attempt.map { Int64($0.duration / .milliseconds(1)) })
            row.bind(attempt?.error)
            row.bind(attempt?.remote)
            row.bind(attempt.flatMap { $0.excerpt.isEmpty ? nil : $0.excerpt })
            row.bind(delivery)
        }
    }

    /// Moves what stands with a delivery of its last attempt to the other attempts.
    func keepLastAttempt(of delivery: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO attempts
                    (delivery, number, started_at, duration, status, error, reason, remote, excerpt)
                SELECT id, attempts, started_at, duration, status, error, reason, remote, excerpt
                FROM deliveries WHERE id = ? AND attempts > 0
                """
        ).execute(arguments: [delivery])
    }
}

extension Outcome {
    /// When the delivery is due again; nil when it has ended.
    fileprivate func nextAttempt(now: Date) -> Date? {
        switch self {
        case .retry(let at, _, _), .postponed(let at, _): at
        case .returned: now
        case .delivered, .dead, .expired: nil
        }
    }
}
