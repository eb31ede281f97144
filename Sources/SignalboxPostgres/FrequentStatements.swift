import SignalboxStore

/// The statements of the most frequent writes, so that a measurement can run them without a store. A transaction begins
/// with `BEGIN` and ``mark``, and ends with ``commit``.
package enum FrequentStatements {
    /// `(node, lane, number)`: raises the number of a lane.
    package static let mark = PostgresWriter.mark
    /// `(ids, sources, subjects, times, bodies, payloads)`: returns the numbers of the events.
    package static let events = AppendBatch.insert
    /// `(node, events, destinations, dues, notBefores, notAfters, orderKeys, variants, isFresh)`: returns the
    /// numbers of the deliveries.
    package static let deliveries = AppendedChunk.insert
    /// `(node, lane, destinations, accepted, waiting, dead, delivered, expired)`: adds to the ledger.
    package static let ledger = DeliveryMoves.sql
    /// `(destination, now, limit, node, unreadable, dueSince)`: leases deliveries; the third column is their number,
    /// the sixteenth when they became due.
    package static let claim = ClaimStatement.unordered
    /// `(destination, now)`: sent with each claim.
    package static let nextDue = ClaimStatement.nextDue
    /// `(node, ids, leases, states, dues, statuses, reasons, startedAt, durations, errors, remotes, excerpts,
    /// exchanges)`: ends deliveries.
    package static let ended = SettlementStatement.ended
    /// Settings of the sessions that lease, and of those that settle: `name=value`.
    package static let leaseSettings = WriterLane.claims.settings
    package static let settleSettings = WriterLane.settlements.settings
    /// Without a time limit, in one round trip with `COMMIT`.
    package static let commit = "SET LOCAL statement_timeout = 0"
}
