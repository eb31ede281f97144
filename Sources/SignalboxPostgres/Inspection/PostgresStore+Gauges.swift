package import SignalboxNotification
package import SignalboxStore

/// The counts that metrics show. Their cost does not grow with the queue.
extension PostgresStore {
    /// Adds up the ledger. Reads the first index entry of each destination with waiting deliveries, and every
    /// delivery that this node holds, which are few. `oldestDue` is that of free deliveries and of those that this node
    /// holds; nil unless one is overdue. One snapshot. Destinations that never had a delivery are missing.
    package func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] {
        let now = now
        let node = membership.incarnation?.node ?? 0
        return try await readers.read { connection in
            let rows = try connection.run(
                """
                SELECT l.destination, accepted, waiting, dead, CASE WHEN waiting > 0 THEN least(h.due,
                    \(FirstDue.of("l.destination", keyed: false)), \(FirstDue.of("l.destination", keyed: true))) END
                FROM (
                    SELECT destination, sum(accepted)::bigint AS accepted, sum(waiting_now)::bigint AS waiting,
                        sum(dead_now)::bigint AS dead
                    FROM ledger GROUP BY destination
                ) l LEFT JOIN (
                    SELECT destination, min(due) AS due FROM queue WHERE holder = $1 GROUP BY destination
                ) h USING (destination)
                """, [.number(node)])
            return try rows.map { row in
                var gauge = DestinationGauges()
                gauge.accepted = try row.count(1)
                // A wrong count, of a database that was edited, must not stop the gateway.
                (gauge.waiting, gauge.dead) = (max(0, try row.count(2)), max(0, try row.count(3)))
                if let due = try row.optionalDate(4), due <= now { gauge.oldestDue = due }
                return (try row.destination(0), gauge)
            }.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// One snapshot of the ledger, which has a row for each destination and node.
    package func accounts() async throws(StoreError) -> [Audit.Account] {
        try await readers.read { try $0.ledger().map(\.account) }
    }

    /// The size of the tables with their indexes, and with the space that the server keeps for later rows. The free
    /// space of its disk cannot be read by SQL.
    package func space() async throws(StoreError) -> StoreSpace {
        let used = try await readers.first(
            """
            SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
            WHERE \(ContentSize.isOurs) AND relkind = 'r'
            """
        ) { try $0.number(0) }
        return StoreSpace(used: used ?? 0, free: nil, size: nil)
    }
}

extension PostgresConnection {
    /// Every destination that ever had a delivery, in the order of names.
    func ledger() throws -> [LedgerEntry] {
        let sums = LedgerEntry.columns.map { "sum(\($0))::bigint" }.joined(separator: ", ")
        return try run(
            """
            SELECT destination, sum(accepted)::bigint, min(undelivered_since), \(sums) FROM ledger
            GROUP BY destination ORDER BY destination
            """
        ).map { try LedgerEntry($0) }
    }
}
