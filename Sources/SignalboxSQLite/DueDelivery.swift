import GRDB
import SignalboxNotification
import SignalboxStore

/// A due delivery with its event: everything that a lease needs, read before anything is written.
struct DueDelivery {
    let lease: Lease
    /// Attempts that were begun, finished or not.
    let begun: Int
    /// The attempts among them that do not count against the budget.
    let forgiven: Int
    let awaitsItsShape: Bool

    /// Throws ``DamagedValue`` when the delivery contradicts the index or cannot be read.
    init(_ id: Int64, _ destination: DestinationName, _ now: Int64, in db: Database) throws {
        let row = try StoredRow.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT e.id, d.attempts, coalesce(v.body, e.body), e.payload, d.not_after, d.begun, d.forgiven,
                        d.begun = 0 AND EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id AND shape IS NOT NULL),
                        d.order_key, d.variant IS NOT NULL AND v.id IS NULL,
                        d.state = 'waiting' AND d.destination = ? AND d.due <= ?
                    FROM deliveries d JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
                    WHERE d.id = ?
                    """), arguments: [destination.name, now, id])
        // An index lists the delivery, so it must exist, have its event, and be due. Otherwise it might be sent twice.
        guard let row, try row.flag(10) else { throw DamagedValue("delivery \(id) is not what the index says") }
        // The event as stored may contain data that this destination must not receive.
        if try row.flag(9) { throw DamagedValue("the variant of delivery \(id) is missing") }
        let attempts = try row.count(1)
        lease = Lease(
            delivery: id, event: try row.eventID(0), destination: destination, attempts: attempts,
            body: try row.bytes(2), payload: try row.optionalBytes(3), notAfter: try row.optionalDate(4),
            orderKey: try row.optionalText(8))
        begun = try row.count(5)
        forgiven = try row.count(6)
        awaitsItsShape = try row.flag(7)
    }
}

extension Lease {
    /// The lease after this many attempts; forgiven ones do not count against the budget.
    func begun(after attempts: Int, forgiven: Int) -> Lease {
        Lease(
            delivery: delivery, event: event, destination: destination, attempts: max(0, attempts - forgiven),
            earlier: attempts, body: body, payload: payload, notAfter: notAfter, orderKey: orderKey)
    }
}
