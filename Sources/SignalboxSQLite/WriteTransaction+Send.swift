import GRDB
import SignalboxNotification
import SignalboxStore

/// Deliveries that operators order for stored events.
extension WriteTransaction {
    /// The new delivery has the form of the last delivery to the destination, so a receiver that already has the event
    /// sees a repeat. It is due now, expires never, and waits in the file for its lane. Changes no row
    /// unless the result is ``ManualResult/ordered(_:)``.
    mutating func send(_ order: ManualDelivery, as action: OperatorAction?) throws -> ManualResult {
        guard let row = try db.row("SELECT seq, payload IS NOT NULL FROM events WHERE id = ?", [order.event]) else {
            return .unknownEvent
        }
        let event = try row.number(0)
        let earlier = try db.row(
            """
            SELECT variant, d.state = 'waiting' AND d.begun = 0
                AND EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id)
            FROM deliveries d WHERE event = ? AND destination = ? ORDER BY id DESC LIMIT 1
            """, [event, order.destination.name])
        // Its stored form may contain values that a transformation removes later.
        if let earlier, try earlier.flag(1) { return .awaitsMedia }
        if order.needsPayload, try !row.flag(1) {
            let restored = try db.run(
                """
                UPDATE events SET payload = (SELECT payload FROM payloads WHERE event = seq)
                WHERE seq = ? AND EXISTS (SELECT 1 FROM payloads WHERE event = seq)
                """, [event])
            guard restored > 0 else { return .payloadGone }
        }
        let variant =
            if let earlier { try earlier.optionalNumber(0) } else {
                try order.variant.map { try insert(variant: $0, of: event) }
            }
        let id = try insert(order, of: event, variant: variant)
        if let action { _ = try db.record(action, count: 1, at: now) }
        return .ordered(id)
    }

    /// Returns the number of the delivery.
    private mutating func insert(_ order: ManualDelivery, of event: Int64, variant: Int64?) throws -> Int64 {
        _ = accept(order.destination)
        let id = try rows.nextDelivery(in: db)
        try rows.add(
            NewDelivery(
                id: id, event: event,
                orders: [DeliveryOrder(to: order.destination, orderKey: order.orderKey)], position: 0, due: now,
                isBegun: false, variant: variant), in: db)
        try rows.flush(in: db)
        try db.run("UPDATE deliveries SET manual = 1 WHERE id = ?", [id])
        effects.spilled.insert(order.destination)
        return id
    }
}
