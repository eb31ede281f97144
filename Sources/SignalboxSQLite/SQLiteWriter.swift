import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// Performs the writes of a commit group in one transaction, and tells the lanes once it is durable.
///
/// All that changes who holds what happens here, one transaction after the other: what a transaction sees of the lanes
/// stays as it is until the transaction has ended, but for what is claimed from memory.
struct SQLiteWriter: Sendable {
    enum Write: Sendable {
        case append([RoutedEvent], IdempotentRequest?)
        case settle(Settlement)
        /// `of`: the result of an earlier search.
        case claim(DestinationName, upTo: Int, of: DueSearch?)
        /// Ends deliveries whose time is over.
        case expire([Overdue])
        /// Takes back what was handed over in memory and never begun.
        case giveBack([Lease])
        case settleMedia(MediaSettlement)
        /// Lets deliveries go that waited for files.
        case release([MediaRelease])
    }

    struct Overdue: Sendable {
        let delivery: Int64
        let destination: DestinationName
    }

    enum Output: Sendable {
        case done
        case appended(AppendResult)
        case claimed([Lease])
    }

    let pool: DatabasePool
    let path: String
    let lanes: Lanes
    let now: @Sendable () -> Date
    let commitHealth: CommitHealth
    let health: StoreHealth
    let record: QueueRecordKeeper
    let known: KnownCategories
    let media: MediaWaker
    let clockNotes: ClockNotes
    let checkpointer: Checkpointer

    func commit(_ writes: [Write]) throws(CommitFailure) -> [Output] {
        var transaction = Transaction(now: now())
        var outputs: [Output] = []
        do {
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    for write in writes { outputs.append(try perform(write, in: db, &transaction)) }
                    try transaction.rows.flush(in: db)
                    try book(transaction.accepting, in: db)
                    return .commit
                }
                checkpointer.committed(by: db)
            }
        } catch {
            undoInMemory(transaction)
            let failure = CommitFailure(error, path: path)
            commitHealth.failed(failure)
            health.note(failure.reason)
            throw failure
        }
        commitHealth.succeeded()
        record.note(event: transaction.rows.lastEvent, delivery: transaction.rows.lastDelivery)
        settleInMemory(transaction)
        return outputs
    }

    /// What a transaction is going to change in memory once it is committed.
    struct Transaction {
        let now: Date
        var rows = AppendedRows()
        /// Looked up once, however many rows follow.
        var update: RowStatement?
        var category: RowStatement?
        /// Categories that count as known already.
        var noted: [String] = []
        var fresh: [Lease] = []
        var spilled: Set<DestinationName> = []
        var released: [(lease: Lease, due: Date?)] = []
        var claimed: [ClaimedFromFile] = []
        var disabled: [DestinationName: DestinationState] = [:]
        /// Destinations of new deliveries.
        private(set) var accepting: [DestinationName: Accepting] = [:]
        var media = MediaNotes()

        struct Accepting: Sendable {
            /// Whether it takes nothing for now; looked up once.
            let isIdle: Bool
            /// New deliveries.
            var count = 0
        }

        /// Counts a new delivery; returns whether the destination takes nothing for now.
        mutating func accept(_ destination: DestinationName, isIdle: () -> Bool) -> Bool {
            func count(_ accepting: inout Accepting) -> Bool {
                accepting.count += 1
                return accepting.isIdle
            }
            return count(&accepting[destination, default: Accepting(isIdle: isIdle())])
        }
    }

    struct ClaimedFromFile: Sendable {
        let destination: DestinationName
        let leases: [Lease]
        /// Whether there was no more.
        let isWhole: Bool
        /// The earliest that was not due yet.
        let nextDue: Date?
        /// The last order key that had its turn.
        let lastKey: String?
        /// Due deliveries that are damaged.
        let unreadable: [Int64]
    }

    private func perform(_ write: Write, in db: Database, _ transaction: inout Transaction) throws -> Output {
        if case .append(let events, let request) = write {
            return .appended(try append(events, request, in: db, &transaction))
        }
        // All others look at what is there.
        try transaction.rows.flush(in: db)
        switch write {
        case .append: break
        case .settle(let settlement):
            try settle(settlement, in: db, &transaction)
        case .claim(let destination, let limit, let found):
            return .claimed(try claim(from: destination, upTo: limit, of: found, in: db, &transaction))
        case .expire(let deliveries):
            // What is held ends with its attempt.
            let free = lanes.withHandOff { handOff in
                deliveries.filter { !handOff.isHeld($0.delivery, of: $0.destination) }
            }
            for overdue in free { try expire(overdue.delivery, by: transaction.now, in: db) }
        case .giveBack(let leases):
            for lease in leases { try giveBack(lease, in: db) }
            transaction.released += leases.map { ($0, transaction.now) }
        case .settleMedia(let settlement): try settle(settlement, in: db, &transaction)
        case .release(let releases):
            for held in releases { try release(held, in: db, &transaction) }
        }
        return .done
    }

    /// Counts new deliveries, so that an audit can tell how many there must be.
    private func book(_ accepting: [DestinationName: Transaction.Accepting], in db: Database) throws {
        guard !accepting.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO ledger (destination, accepted) VALUES (?, ?)
                ON CONFLICT (destination) DO UPDATE SET accepted = accepted + excluded.accepted
                """)
        for (destination, new) in accepting { try statement.execute(arguments: [destination.name, new.count]) }
    }

    // MARK: Memory

    private func settleInMemory(_ transaction: Transaction) {
        lanes.withHandOff { handOff in
            for lease in transaction.fresh { handOff.deliver(lease) }
            for destination in transaction.spilled { handOff.leaveToFile(destination) }
            for (destination, due) in transaction.media.expected { handOff.expect(destination, at: due) }
            for (lease, due) in transaction.released { handOff.release(lease, due: due) }
            for claim in transaction.claimed {
                handOff.finishReading(
                    claim.leases, of: claim.destination, isWhole: claim.isWhole, nextDue: claim.nextDue,
                    lastKey: claim.lastKey, unreadable: claim.unreadable)
            }
        }
        for (destination, state) in transaction.disabled { lanes.set(state, of: destination) }
        lanes.wake(transaction.spilled.union(transaction.fresh.map(\.destination)))
        if transaction.media.isChanged { media.wake() }
    }

    private func undoInMemory(_ transaction: Transaction) {
        known.remove(transaction.noted)
        lanes.withHandOff { handOff in
            for lease in transaction.fresh { handOff.forget(lease) }
        }
    }
}
