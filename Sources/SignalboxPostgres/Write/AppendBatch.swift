import Foundation
import SignalboxNotification
import SignalboxStore

/// Events that one transaction appends, with their deliveries and all that belongs to them. A fixed number of round
/// trips, however many events there are.
///
/// ``finish()`` must be called before the commit: it writes what no later statement of the transaction reads, and the
/// ledger. A value of one run of a transaction; ``effects`` outlive it.
struct AppendBatch {
    let store: PostgresStore
    let transaction: PostgresTransaction
    /// Applied by the caller after the commit, undone after a failure; see `PostgresStore.commit(on:_:)`.
    var effects = WriteEffects()
    /// How the deliveries of each destination change. The caller adds the changes that it makes itself.
    var moves = DeliveryMoves()

    init(_ store: PostgresStore, _ transaction: PostgresTransaction) {
        (self.store, self.transaction) = (store, transaction)
    }

    /// Appends events and the followers of each; returns whether each was inserted: false for an event with a lasting
    /// id that is stored already, whose followers are dropped. Throws for another id that is in use.
    @discardableResult
    mutating func insert(_ events: [RoutedEvent]) throws -> [Bool] {
        for event in events {
            let row = try transaction.run(
                """
                INSERT INTO events (id, source, subject, accepted_at, body, payload)
                VALUES ($1::text::uuid, $2, $3, $4, $5, $6) RETURNING seq
                """,
                [
                    .text(event.event.id.description), .text(event.event.source.name), .text(event.event.subject),
                    .time(event.event.acceptedAt), .bytes(event.event.body), .bytes(event.payload),
                ]
            ).first
            guard let sequence = try row?.number(0) else { throw DamagedValue("an event has no number") }
            for order in event.deliveries {
                let due = order.notBefore.map { max($0, event.event.acceptedAt) }
                    ?? min(event.event.acceptedAt, transaction.now)
                try transaction.run(
                    """
                    INSERT INTO queue (event, destination, due, not_before, not_after, order_key)
                    VALUES ($1, $2, $3, $4, $5, $6)
                    """,
                    [
                        .number(sequence), .destination(order.destination), .time(due), .time(order.notBefore),
                        .time(order.notAfter), .text(order.orderKey),
                    ])
                moves.begin(order.destination)
                effects.spilled.insert(order.destination)
            }
        }
        return events.map { _ in true }
    }

    /// Writes the rest, and the ledger. Nothing of the batch may be added later.
    mutating func finish() throws {
        try moves.write(in: transaction)
        effects.ends = moves.ends
    }
}
