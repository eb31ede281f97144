package import Foundation
import SignalboxNotification
package import SignalboxStore

/// This process as one of several nodes.
extension PostgresStore {
    /// Describes this node to operators, from its next heartbeat on.
    package func describe(_ description: NodeDescription) { membership.describe(description) }

    /// False for a process without a lane, which has no heartbeat.
    package var leads: Bool { membership.leads }

    /// Signs the node off, after the last write: other nodes claim at once what it still held. A later write begins a
    /// new incarnation. Throws when the database cannot be reached; then the others take over after the lifetime of a
    /// node. Ends the heartbeat first, and returns after 5 s even if deliveries are left to the takeover of other
    /// nodes.
    package func signOff() async throws(StoreError) {
        let node = try await readers.read { [heartbeat, membership] connection -> Int64? in
            heartbeat.finish()
            guard let (node, key) = membership.incarnation else { return nil }
            // After a failover that lost its registration, another incarnation may have its number.
            let ending = PostgresStatement(
                "UPDATE nodes SET is_live = false WHERE id = $1 AND key = $2 AND is_live RETURNING id",
                [.number(node), .text(key)])
            guard try !connection.run(all: Takeover.closing(node, ending))[0].isEmpty else { return node }
            _ = try Takeover(connection).run(silent: [], absent: [node], until: .now + .seconds(5))
            return node
        }
        if let node { membership.replace(node) }
    }

    /// Walks from holder to holder in an index.
    package func mayBeAbandoned(since time: Date) async throws(StoreError) -> Bool {
        let node = membership.incarnation?.node ?? 0
        return try await readers.read { connection in
            let rows = try connection.run(
                Takeover.holders + """
                    SELECT FROM holders h WHERE id <> $1 AND NOT EXISTS (
                        SELECT FROM nodes n
                        WHERE n.id = h.id AND n.is_live AND n.seen_at > to_timestamp($2::float8 / 1000))
                    LIMIT 1
                    """, [.number(node), .time(time)])
            return !rows.isEmpty
        }
    }

    /// Every commit is in the server's log when it returns. Signs the node off instead of moving commits: other nodes
    /// claim its deliveries at once.
    package func checkpoint() async throws(StoreError) { try await signOff() }

    /// Frees deliveries whose row names this node and that no lane knows, after an outcome that was undecided for long.
    /// Looks twice, a second apart, because a write in progress may be about to tell a lane.
    func sweepIfRequested() async throws(StoreError) {
        guard let (node, _) = membership.incarnation else { return }
        let isRequested = membership.takeSweepRequest()
        let suspects = sweeps.due(isRequested, at: .now)
        guard isRequested || suspects != nil else { return }
        do throws(StoreError) {
            try await sweep(node, suspects)
        } catch {
            // The deliveries would wait for the end of this process.
            membership.requestSweep()
            throw error
        }
    }

    /// A first look, or with its `suspects` the second one.
    private func sweep(_ node: Int64, _ suspects: [Int64: Int64]?) async throws(StoreError) {
        // Claims that have not told their lanes yet; the commit of one may wait for a lost connection for long.
        let claiming = lanes.withHandOff { handOff in handOff.lanes.filter { $0.value.reading != nil }.map(\.key) }
        let unknown = try await unknownLeases(of: node)
        guard let suspects else { return sweeps.begin(unknown, at: .now) }
        let lost = unknown.filter { suspects[$0.key] == $0.value }
        guard !lost.isEmpty, !claiming.isEmpty else { return try await free(lost) }
        let uncertain = try await leases(lost.keys.sorted(), of: claiming)
        sweeps.begin(lost.filter { uncertain.contains($0.key) }, at: .now)
        try await free(lost.filter { !uncertain.contains($0.key) })
    }

    /// The leases among `ids` whose deliveries go to one of these destinations.
    private func leases(_ ids: [Int64], of destinations: [DestinationName]) async throws(StoreError) -> Set<Int64> {
        Set(
            try await readers.rows(
                "SELECT id FROM queue WHERE id = ANY ($1) AND destination = ANY ($2)",
                [.numbers(ids), .texts(destinations.map(\.name))]
            ) { try $0.number(0) })
    }

    /// Ends leases whose attempts were never begun: no lane knew them. They count no attempt. `unknown`: the number of
    /// each lease; a delivery that was leased again since is left alone.
    func free(_ unknown: [Int64: Int64]) async throws(StoreError) {
        guard !unknown.isEmpty else { return }
        defer { hints.reset() }
        let lost = unknown.sorted { $0.key < $1.key }
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                UPDATE queue q SET holder = NULL, begun = attempts, forgiven = least(forgiven, attempts)
                FROM unnest($1, $2) AS i (id, lease) WHERE q.id = i.id AND q.lease = i.lease
                    AND q.id = ANY ($1) AND coalesce(q.holder, 0) = $3
                """,
                [.numbers(lost.map(\.key)), .numbers(lost.map(\.value)), .number(transaction.node)])
        }
    }

    /// Rows that name this node and that no lane knows, with the numbers of their leases. Reads the rows first, then
    /// the lanes: a lease that reaches its lane in between is not returned. Finds rows by `queue_held`.
    func unknownLeases(of node: Int64) async throws(StoreError) -> [Int64: Int64] {
        let rows = try await readers.rows(
            "SELECT id, destination, lease FROM queue WHERE holder = $1", [.number(node)]
        ) { (try $0.number(0), try $0.destination(1), try $0.number(2)) }
        return lanes.withHandOff { handOff in
            Dictionary(rows.filter { !handOff.isHeld($0.0, of: $0.1) }.map { ($0.0, $0.2) }, uniquingKeysWith: { $1 })
        }
    }
}
