import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// The events and deliveries that a transaction appends. They are numbered here, so that they can refer to each other
/// before they are in the tables: no other connection appends while the transaction lasts. Rows reach the tables with
/// ``flush(in:)``. The events are written before the deliveries that refer to them. A value of one transaction: after
/// a rollback it is dropped, and its numbers are assigned again.
struct AppendedRows {
    /// Rows that are not written yet, except events with a lasting id.
    private var events = BulkInsert<NewEvent>()
    /// Written after ``events``, which they refer to.
    private var deliveries = BulkInsert<NewDelivery>()
    /// Prepared for the first event with a lasting id.
    private var lasting: RowStatement?
    /// The last numbers assigned; nil for none. ``QueueRecordKeeper`` writes these to `queue.id` after the commit.
    private(set) var lastEvent: Int64?
    /// Assigned in the order of the deliveries, without gaps within a transaction.
    private(set) var lastDelivery: Int64?

    /// The number of the next event. The largest number in the table or among the removed rows, plus one. Reads the
    /// table for the first event of a transaction only.
    func nextEvent(in db: Database) throws -> Int64 { try (lastEvent ?? StoredNumbers.lastEvent(in: db)) + 1 }

    /// The number of the next delivery. Read and counted like ``nextEvent(in:)``.
    func nextDelivery(in db: Database) throws -> Int64 { try (lastDelivery ?? StoredNumbers.lastDelivery(in: db)) + 1 }

    /// False for an event with a lasting id that is stored already: then nothing is added. An event with a lasting id
    /// is written at once, because only the table can tell whether it is a repeat. Throws for an id without
    /// `hasLastingID` that is stored already, at the latest when the rows are flushed; the transaction has failed
    /// then.
    mutating func add(_ event: NewEvent, in db: Database) throws -> Bool {
        if event.routed.hasLastingID {
            let statement = try lasting ?? NewEvent.insertUnlessStored(db)
            lasting = statement
            try statement.run { event.bind(&$0) }
            guard statement.changes > 0 else { return false }
        } else {
            try events.add(event, in: db)
        }
        lastEvent = event.sequence
        return true
    }

    /// Its event must have been added before. Throws like ``BulkInsert/add(_:in:)``.
    mutating func add(_ delivery: consuming NewDelivery, in db: Database) throws {
        lastDelivery = delivery.id
        try deliveries.add(delivery, in: db)
    }

    /// Writes all rows. Every write other than an append flushes first, because it may read these rows. Throws when a
    /// row violates a constraint, such as a repeated id.
    mutating func flush(in db: Database) throws {
        try events.flush(in: db)
        try deliveries.flush(in: db)
    }
}

/// A row of `events`. The body is stored once, however many destinations receive it.
struct NewEvent: NewRow {
    /// The primary key, assigned by ``AppendedRows``.
    let sequence: Int64
    /// The event and its payload, if a destination wants it.
    let routed: RoutedEvent

    /// The order of the columns is that of ``bind(_:)``.
    static let insertion = Insertion(
        into: "events", ["seq", "id", "source", "subject", "accepted_at", "body", "payload"])

    /// In the order of ``insertion``.
    func bind(_ row: inout RowStatement.Arguments) {
        let event = routed.event
        row.bind(sequence)
        row.bind(event.id)
        row.bind(event.source.name)
        row.bind(event.subject)
        row.bind(event.acceptedAt.milliseconds)
        row.bind(event.body)
        row.bind(routed.payload)
    }

    /// The statement changes no row when the id exists. Ids are unique in the file, so equal ids of different sources
    /// are repeats too.
    fileprivate static func insertUnlessStored(_ db: Database) throws -> RowStatement {
        let columns = insertion.columns.joined(separator: ", ")
        return try RowStatement(
            db, sql: "INSERT INTO events (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
    }
}

/// A row of `deliveries`, in its initial state `waiting`. Columns that are missing here have their defaults: no
/// attempt was made.
struct NewDelivery: NewRow {
    /// The primary key, assigned by ``AppendedRows``.
    let id: Int64
    /// The primary key of its event, in the same transaction.
    let event: Int64
    /// The orders of the event; the one at `position` has the destination and the times. The whole array, because a
    /// copy of the order takes longer than binding its values.
    let orders: [DeliveryOrder]
    /// The index of its order in ``orders``.
    let position: Int
    /// The earliest time of the first attempt.
    let due: Date
    /// Whether it is handed over in memory. If so, the row says that its first attempt has begun, so a crash counts
    /// it.
    let isBegun: Bool
    /// The row of the variant that it carries.
    let variant: Int64?

    /// The order of the columns is that of ``bind(_:)``.
    static let insertion = Insertion(
        into: "deliveries",
        ["id", "event", "destination", "due", "not_before", "not_after", "order_key", "begun", "variant"])

    /// In the order of ``insertion``.
    func bind(_ row: inout RowStatement.Arguments) {
        row.bind(id)
        row.bind(event)
        row.bind(orders[position].destination.name)
        row.bind(due.milliseconds)
        row.bind(orders[position].notBefore?.milliseconds)
        row.bind(orders[position].notAfter?.milliseconds)
        row.bind(orders[position].orderKey)
        row.bind(isBegun ? 1 : 0)
        row.bind(variant)
    }
}
