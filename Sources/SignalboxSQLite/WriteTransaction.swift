import Foundation
import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import Synchronization

/// A write that shares its commit with others. Writes of one group are performed in their order, and all of them are
/// committed or none. `CommitGroup` collects them; ``SQLiteFile/commit(_:)`` performs them.
enum SQLiteWrite: Sendable {
    /// The events of one request, and the request itself if it has an idempotency key.
    case append([RoutedEvent], IdempotentRequest?)
    /// The outcome of one attempt.
    case settle(Settlement)
    /// `of`: the result of an earlier search.
    case claim(DestinationName, upTo: Int, of: DueSearch?)
    /// Ends deliveries whose time is over.
    case expire([Overdue])
    /// Returns leases whose attempts were never begun.
    case giveBack([Lease])
    /// The end of one download.
    case settleMedia(MediaSettlement)
    /// Held deliveries with their final bodies.
    case release([MediaRelease])
    /// A decision about in-app messages, with its events.
    case decide(InAppDecision)
    /// A new or changed in-app message.
    case register(InAppRegistration)
    /// The end of an in-app message.
    case withdraw(MessageID)
    /// One step of the upkeep of in-app rows.
    case removeInApp(InAppWalk)
    /// One more delivery of a stored event, with its row of the action log.
    indirect case send(ManualDelivery, OperatorAction?)
    /// A write on behalf of an operator, with its row of the action log.
    indirect case recorded(OperatorAction, SQLiteWrite)

    /// Whether the caller relies on the write being stored. Others only complete what was stored before.
    var isPromise: Bool {
        switch self {
        case .append, .decide, .register, .withdraw, .send, .recorded: true
        case .settle, .claim, .expire, .giveBack, .settleMedia, .release, .removeInApp: false
        }
    }

    /// With a row of the action log; the same write for nil.
    func recorded(as action: OperatorAction?) -> SQLiteWrite { action.map { .recorded($0, self) } ?? self }

    /// A delivery that had expired when it was found.
    struct Overdue: Sendable {
        /// The primary key in `deliveries`.
        let delivery: Int64
        /// Its lane knows whether an attempt is in progress.
        let destination: DestinationName
    }

    /// The result that matches the kind of the write; `done` for writes without a result.
    enum Output: Sendable {
        /// The write has no result of its own.
        case done
        /// The result of ``SQLiteWrite/append(_:_:)``.
        case appended(AppendResult)
        /// The result of ``SQLiteWrite/settle(_:)``.
        case settled(SettlementResult)
        /// The result of ``SQLiteWrite/claim(_:upTo:of:)``; empty when no delivery was due.
        case claimed([Lease])
        /// The result of ``SQLiteWrite/send(_:_:)``.
        case sent(ManualResult)
        /// Nil for an unknown one.
        case message(StoredInAppMessage?)
        /// The next step of the removal; nil for none.
        case removed(InAppWalk?)
    }
}

/// The only place that commits groups.
extension SQLiteFile {
    /// Performs a group of writes in one transaction, and tells the lanes once it is durable. Effects in memory
    /// follow the commit, so no lane sees a delivery that a crash could lose. A failure undoes the reservations and
    /// is thrown with the information whether one write alone may be its cause; `CommitGroup` then tries each of them
    /// alone. Returns the outputs in the order of the writes. Runs on the queue of commits and blocks until the sync
    /// has ended.
    func commit(_ writes: [SQLiteWrite]) throws(CommitFailure) -> [SQLiteWrite.Output] {
        var effects = WriteEffects()
        // The last numbers that were assigned, for `queue.id`.
        var last: (event: Int64?, delivery: Int64?) = (nil, nil)
        let outputs: [SQLiteWrite.Output]
        let acceptsEvents = writes.contains { if case .append = $0 { true } else { false } }
        let begun = ContinuousClock.now
        defer { health.commits.observe(ContinuousClock.now - begun) }
        do {
            outputs = try pool.writeWithoutTransaction { db in
                if writes.contains(where: \.isPromise) { try self.requirePlace(of: db) }
                let outputs = try self.transaction(in: db) { now in
                    var transaction = WriteTransaction(file: self, db: db, now: now)
                    defer { effects = transaction.effects }
                    let outputs = try writes.map { try transaction.perform($0) }
                    try transaction.finish()
                    last = (transaction.rows.lastEvent, transaction.rows.lastDelivery)
                    return outputs
                }
                // Before another transaction resumes one of them.
                for destination in effects.disabled { lanes.deactivate(destination) }
                return outputs
            }
        } catch {
            effects.undo(in: lanes, categories)
            let failure = CommitFailure(error, path: path)
            health.commitFailed(failure, ofEvents: acceptsEvents)
            throw failure
        }
        // A repeat or a duplicate stores no event, so it does not show that the disk has room for one.
        health.commitSucceeded(ofEvents: last.event != nil)
        record.advance(event: last.event, delivery: last.delivery)
        effects.apply(to: lanes, categories, health, observer: inAppObserver.withLock(\.self))
        return outputs
    }
}

/// One transaction of the writer. The leases that it sees do not change until it has ended, because only the writer
/// begins and ends leases. Lives for one group on the writer's thread. ``finish()`` must be called before the commit.
/// A step that throws fails the transaction; the value is dropped with its effects.
struct WriteTransaction {
    /// Its lanes, categories and health outlive the transaction.
    let file: SQLiteFile
    /// The writer's connection, within the transaction.
    let db: Database
    /// The time of all writes of the group. By the wall clock, after the waits have followed it.
    let now: Date
    /// Appends that are not in the tables yet.
    var rows = AppendedRows()
    /// Applied by the caller after the commit.
    var effects = WriteEffects()
    /// The statement that records attempts, looked up once.
    var update: RowStatement?
    /// URLs that were looked up. Many events of one campaign name the same.
    var urls = ExactTextMap<KnownURL>()
    /// The rows of in-app messages, with their statements.
    lazy var inApp = InAppReader(db)
    /// How the deliveries of each destination change.
    var moves = DeliveryMoves()
    /// Whether each destination of new deliveries accepts nothing for now.
    private(set) var idle: [DestinationName: Bool] = [:]
    /// The last answer. Many deliveries in a row have the same destination.
    private(set) var lastIdle: (destination: DestinationName, isIdle: Bool)?

    /// Counts a new delivery. Returns whether its destination accepts nothing for now. Reads the state of the
    /// destination once per transaction, so all its deliveries are treated alike.
    mutating func accept(_ destination: DestinationName) -> Bool {
        moves.begin(destination)
        if let lastIdle, lastIdle.destination == destination { return lastIdle.isIdle }
        let isIdle = idle[destination] ?? !file.lanes.isActive(destination)
        idle[destination] = isIdle
        lastIdle = (destination, isIdle)
        return isIdle
    }

    /// Returns the output that belongs to the kind of `write`. An error fails the whole group. Rows of earlier
    /// appends are in the tables before any write that could read them.
    mutating func perform(_ write: SQLiteWrite) throws -> SQLiteWrite.Output {
        if case .append(let events, let request) = write { return .appended(try append(events, request)) }
        // Reads in-app rows only, which are written at once.
        if case .decide(let decision) = write {
            try decide(decision)
            return .done
        }
        // All other writes read rows that may have been appended before.
        try rows.flush(in: db)
        switch write {
        case .append, .decide: break
        case .settle(let settlement): return .settled(try settle(settlement))
        case .claim(let destination, let limit, let search):
            return .claimed(try claim(from: destination, upTo: limit, of: search))
        case .expire(let deliveries):
            // A leased delivery ends with its attempt.
            let free = file.lanes.withHandOff { handOff in
                deliveries.filter { !handOff.isHeld($0.delivery, of: $0.destination) }
            }
            for overdue in free {
                try expire(overdue.delivery, of: overdue.destination)
                // The next delivery of its key may be ready.
                effects.spilled.insert(overdue.destination)
            }
        case .giveBack(let leases):
            for lease in leases { _ = try giveBack(lease) }
            effects.released += leases.map { ($0, now) }
        case .settleMedia(let settlement): try settle(settlement)
        case .release(let releases): for release in releases { try self.release(release) }
        case .register(let message): return .message(try register(message))
        case .withdraw(let id): return .message(try withdraw(id))
        case .removeInApp(let removal): return .removed(try remove(removal))
        case .send(let order, let action): return .sent(try send(order, as: action))
        case .recorded(let action, let write):
            _ = try db.record(action, count: nil, at: now)
            return try perform(write)
        }
        return .done
    }

    /// Writes the gathered rows. Counts new deliveries in the ledger, so that an audit can tell how many there must
    /// be, and those that ended. Throws for a row that violates a constraint.
    mutating func finish() throws {
        try rows.flush(in: db)
        try moves.write(in: db)
        effects.ends = moves.ends
    }
}
