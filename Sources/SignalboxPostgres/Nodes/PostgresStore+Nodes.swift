import SignalboxNotification
package import SignalboxStore

/// This process as one of several nodes.
extension PostgresStore {
    /// Describes this node to operators, from its next heartbeat on.
    package func describe(_ description: NodeDescription) { membership.describe(description) }

    package var leads: Bool { membership.leads }

    /// Signs the node off, after the last write: other nodes claim at once what it still held. A later write begins a
    /// new incarnation. Throws when the database cannot be reached; then the others take over after the lifetime of a
    /// node.
    package func signOff() async throws(StoreError) {
        let node = try await readers.read { [heartbeat, membership] connection -> Int64? in
            heartbeat.finish()
            guard let (node, _) = membership.incarnation else { return nil }
            let ending = PostgresStatement(
                "UPDATE nodes SET is_live = false WHERE id = $1 RETURNING id", [.number(node)])
            _ = try connection.run(all: Takeover.closing(node, ending))
            _ = try Takeover(connection).run(silent: [], absent: [node], until: .now + .seconds(5))
            return node
        }
        if let node { membership.replace(node) }
    }

    /// Frees deliveries whose row names this node and that no lane knows, after an outcome that was undecided for long.
    /// Looks twice, a second apart, because a write in progress may be about to tell a lane.
    func sweepIfRequested() async throws(StoreError) {
        guard let (node, _) = membership.incarnation else { return }
        let isRequested = membership.takeSweepRequest()
        let suspects = sweeps.due(isRequested, at: .now)
        guard isRequested || suspects != nil else { return }
        // Claims that have not told their lanes yet; the commit of one may wait for a lost connection for long.
        let claiming = lanes.withHandOff { Array($0.lanes.keys) }.filter { lanes.readingNumber(of: $0) != nil }
        let unknown = try await unknownLeases(of: node)
        guard let suspects else { return sweeps.begin(unknown, at: .now) }
        let lost = unknown.intersection(suspects)
        guard !lost.isEmpty, !claiming.isEmpty else { return try await free(lost) }
        let uncertain = try await leases(lost, of: claiming)
        sweeps.begin(uncertain, at: .now)
        try await free(lost.subtracting(uncertain))
    }

    /// Those of these leases that are of certain destinations.
    private func leases(
        _ ids: Set<Int64>, of destinations: [DestinationName]
    ) async throws(StoreError) -> Set<Int64> {
        try await readers.read { connection in
            Set(
                try connection.run(
                    "SELECT id FROM queue WHERE id = ANY ($1) AND destination = ANY ($2)",
                    [.numbers(ids.sorted()), .texts(destinations.map(\.name))]
                ).map { try $0.number(0) })
        }
    }

    /// Ends leases of this node that were never begun.
    func free(_ unknown: Set<Int64>) async throws(StoreError) {
        guard !unknown.isEmpty else { return }
        let lost = unknown.sorted()
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                UPDATE queue SET holder = NULL, begun = attempts, forgiven = least(forgiven, attempts)
                WHERE id = ANY ($1) AND holder = $2
                """,
                [.numbers(lost), .number(transaction.node)])
        }
    }

    /// Rows that name this node and that no lane knows.
    func unknownLeases(of node: Int64) async throws(StoreError) -> Set<Int64> {
        let rows = try await readers.read { connection in
            try connection.run("SELECT id, destination FROM queue WHERE holder = $1", [.number(node)]).map {
                (try $0.number(0), try $0.destination(1))
            }
        }
        return lanes.withHandOff { handOff in
            Set(rows.filter { !handOff.isHeld($0.0, of: $0.1) }.map(\.0))
        }
    }
}
