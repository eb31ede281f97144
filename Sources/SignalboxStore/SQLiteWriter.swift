import Foundation
import GRDB
import SignalboxModel

/// Performs the writes of a commit group in one transaction, and tells the lanes once it is durable.
struct SQLiteWriter: Sendable {
    enum Write: Sendable {
        case append([RoutedEvent])
        case settle(Lease, Outcome)
    }

    let pool: DatabasePool
    let path: String
    let lanes: Lanes
    let now: @Sendable () -> Date
    let health: CommitHealth

    func commit(_ writes: [Write]) throws(StoreError) {
        var transaction = Transaction(now: now())
        do {
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    for write in writes { try perform(write, in: db, &transaction) }
                    return .commit
                }
            }
        } catch {
            let fresh = transaction.fresh
            lanes.withHandOff { handOff in for lease in fresh { handOff.forget(lease) } }
            let reason = StoreError(error, path: path)
            health.failed(reason)
            throw reason
        }
        health.succeeded()
        settleInMemory(transaction)
    }

    /// What a transaction is going to change in memory once it is committed.
    private struct Transaction: Sendable {
        let now: Date
        var fresh: [Lease] = []
        var spilled: Set<DestinationName> = []
        var released: [(lease: Lease, due: Date?)] = []
    }

    private func perform(_ write: Write, in db: Database, _ transaction: inout Transaction) throws {
        switch write {
        case .append(let events):
            for event in events { try insert(event, in: db, &transaction) }
        case .settle(let lease, let outcome):
            try SQLiteQueue.update(lease, outcome, in: db)
            transaction.released.append((lease, outcome.nextAttempt(now: transaction.now)))
        }
    }

    private func insert(_ routed: RoutedEvent, in db: Database, _ transaction: inout Transaction) throws {
        let event = routed.event
        let id = event.id.description
        let accepted = event.acceptedAt.milliseconds
        try db.cachedStatement(
            sql: "INSERT INTO events (id, source, subject, accepted_at, body) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [id, event.source.name, event.subject, accepted, Data(event.body)])
        guard !routed.destinations.isEmpty else { return }
        let sequence = db.lastInsertedRowID
        let statement = try db.cachedStatement(
            sql: "INSERT INTO deliveries (event, destination, due) VALUES (?, ?, ?)")
        for destination in routed.destinations {
            try statement.execute(arguments: [sequence, destination.name, accepted])
            let lease = Lease(
                delivery: db.lastInsertedRowID, event: id, destination: destination, attempts: 0, body: event.body)
            if lanes.withHandOff({ $0.reserve(lease) }) {
                transaction.fresh.append(lease)
            } else {
                transaction.spilled.insert(destination)
            }
        }
    }

    private func settleInMemory(_ transaction: Transaction) {
        lanes.withHandOff { handOff in
            for lease in transaction.fresh { handOff.deliver(lease) }
            for destination in transaction.spilled { handOff.leaveToFile(destination) }
            for (lease, due) in transaction.released { handOff.release(lease, due: due) }
        }
        lanes.wake(transaction.spilled.union(transaction.fresh.map(\.destination)))
    }
}

extension Outcome {
    /// When the delivery is due again; nil when it has ended.
    fileprivate func nextAttempt(now: Date) -> Date? {
        switch self {
        case .retry(let at, _, _), .postponed(let at, _): at
        case .returned: now
        case .delivered, .dead: nil
        }
    }
}
