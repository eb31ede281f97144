import GRDB
import SignalboxModel

/// A delivery that is due, with its event: all that a lease needs, read before anything is written.
struct DueDelivery {
    let lease: Lease
    /// Attempts that were begun, ended or not.
    let begun: Int
    /// Of them, those that cost none of the budget.
    let forgiven: Int
    let awaitsItsShape: Bool

    /// Throws ``DamagedValue`` when it is not what the index says, or cannot be read.
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
        // An index names it: so it is there, with its event, and is due. Otherwise it might be sent twice.
        guard let row, try row.flag(10) else { throw DamagedValue("delivery \(id) is not what the index says") }
        // The event as stored may say what this destination must not hear.
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
    /// The lease of a delivery of which so many attempts were begun; the forgiven ones cost none of its budget.
    func begun(after attempts: Int, forgiven: Int) -> Lease {
        Lease(
            delivery: delivery, event: event, destination: destination, attempts: max(0, attempts - forgiven),
            earlier: attempts, body: body, payload: payload, notAfter: notAfter, orderKey: orderKey)
    }
}
