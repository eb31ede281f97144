package import SignalboxStore

/// Deliveries that operators order for stored events.
extension PostgresStore {
    /// The new delivery has the form of the last delivery to the destination, so a receiver that already has the event
    /// sees a repeat. It is due now, expires never, and waits in the database for a lane. Returns
    /// ``ManualResult/unknownEvent`` without a round trip for a text that is not an id of an event.
    package func send(_ order: ManualDelivery, as action: OperatorAction?) async throws(StoreError) -> ManualResult {
        guard PostgresValue.isEventID(order.event) else { return .unknownEvent }
        let result = try await writer(.others).write { transaction in
            try self.send(order, as: action, in: transaction)
        }
        if case .ordered = result {
            var effects = WriteEffects()
            effects.spilled.insert(order.destination)
            apply(effects)
        }
        return result
    }

    /// Writes nothing unless it returns `ordered`. The event stays locked until the commit.
    private func send(
        _ order: ManualDelivery, as action: OperatorAction?, in transaction: PostgresTransaction
    ) throws -> ManualResult {
        let found = try transaction.run(all: [
            PostgresStatement(Self.lockEvent, [.text(order.event)]),
            PostgresStatement(Self.lastDelivery, [.text(order.event), .destination(order.destination)]),
        ])
        guard let event = found[0].first else { return .unknownEvent }
        let (sequence, hasPayload) = (try event.number(0), try event.flag(1))
        let earlier = found[1].first
        // Its stored form may contain values that a transformation removes later.
        if let earlier, try earlier.flag(1) { return .awaitsMedia }
        if order.needsPayload, !hasPayload {
            let restored = try transaction.run(Self.restorePayload, [.number(sequence)]).affected
            guard restored > 0 else { return .payloadGone }
        }
        let body = earlier == nil ? order.variant : nil
        let inserted = try transaction.run(
            Self.insertDelivery,
            [
                .number(sequence), .destination(order.destination), .time(transaction.now), .text(order.orderKey),
                .number(try earlier?.optionalNumber(0)), .bytes(body),
            ])
        guard let id = try inserted.first?.number(0) else { throw DamagedValue("a delivery has no number") }
        var moves = DeliveryMoves()
        moves.begin(order.destination)
        try moves.write(in: transaction)
        if let action { try record(action, count: 1, in: transaction) }
        return .ordered(id)
    }

    /// Keeps the event: a removal waits for this transaction, and then finds the delivery.
    private static let lockEvent = """
        SELECT seq, payload IS NOT NULL FROM events WHERE id = $1::text::uuid FOR NO KEY UPDATE
        """

    /// The form of the last delivery, and whether it waits for files. The sum keeps the planner from walking down the
    /// primary key.
    private static let lastDelivery = """
        SELECT variant, d.state = 'waiting' AND d.begun = 0
            AND EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id)
        FROM deliveries d WHERE event = (SELECT seq FROM events WHERE id = $1::text::uuid) AND destination = $2
        ORDER BY id + 0 DESC LIMIT 1
        """

    /// From the copy that is kept for operators. Changes no row if there is none.
    private static let restorePayload = """
        UPDATE events SET payload = p.payload FROM payloads p WHERE p.event = seq AND seq = $1
        """

    /// `$5`: the variant of the last delivery, which is shared with it. `$6`: the body of a new variant, NULL for none.
    private static let insertDelivery = """
        WITH made AS (
            INSERT INTO variants (event, body) SELECT $1, $6 WHERE $6::bytea IS NOT NULL RETURNING id
        )
        INSERT INTO queue (event, destination, due, order_key, variant, manual)
        VALUES ($1, $2, $3, \(AppendedChunk.stored(orderKey: "$4")), coalesce($5, (SELECT id FROM made)), true)
        RETURNING id
        """
}
