package import Foundation
package import SignalboxStore

/// A live node, as operators see it.
package struct NodeRecord: Sendable, Equatable {
    /// Grows with each incarnation.
    package let number: Int64
    package let description: NodeDescription
    /// When it began, by the server's clock.
    package let startedAt: Date
    /// The time since its last heartbeat.
    package let silence: Duration
    /// Deliveries that it leases.
    package let held: Int
    /// Whether it is the process that asks.
    package let isSelf: Bool
}

extension PostgresStore {
    /// All live nodes, in the order of their numbers. Commands are among them for some seconds.
    package func nodes() async throws(StoreError) -> [NodeRecord] {
        let own = membership.incarnation?.node
        return try await readers.read { connection in
            try connection.run(
                """
                SELECT id, name, version, config, started_at,
                    (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint,
                    (SELECT count(*) FROM queue WHERE holder = n.id)
                FROM nodes n WHERE is_live ORDER BY id
                """
            ).map { row in
                NodeRecord(
                    number: try row.number(0),
                    description: NodeDescription(
                        name: try row.text(1), version: try row.text(2), config: try row.optionalText(3)),
                    startedAt: try row.date(4), silence: .milliseconds(max(0, try row.number(5))),
                    held: try row.count(6), isSelf: try row.number(0) == own)
            }
        }
    }
}
