package import SignalboxInApp
package import SignalboxStore

/// In-app messages and decisions.
extension PostgresStore {
    /// The step runs on a thread of the store, within the transaction of its group. A group that fails is split and run
    /// again, and so is one whose transaction met a deadlock or another node's lock; the step runs again with it, over
    /// the rows of that run. After `done` all of its rows, events and deliveries are committed.
    package func decide(
        _ decision: InAppDecision, whenDone done: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        // Keeps the store until the decision has been committed.
        decisions.submit(decision) { [self] result in withExtendedLifetime(self) { done(result) } }
    }

    /// Reads one snapshot; decisions that are committed meanwhile do not change the result.
    package func rows(of subject: InAppSubject, tallies: [MessageID]) async throws(StoreError) -> InAppRows {
        let now = now.milliseconds
        return try await readers.snapshot { connection in
            var keys = InAppKeys()
            keys.add(subject, tallies)
            let loading = InAppLoading(run: { try connection.run(all: $0) }, now: now, locks: nil)
            return try loading.load(&keys).rows(of: subject, tallies: tallies)
        }
    }

    // MARK: Due devices

    /// How long the node that made the last decision about a device has before other nodes take it, in milliseconds.
    private static let turn: Int64 = 1000

    /// Whether a due device is this node's: it made the last decision, or no live node did. `$1`: this node. A row with
    /// a number that no node has is free for all.
    private static let isOwn = """
        (node = $1 OR NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = inapp_devices.node AND is_live))
        """

    /// Devices that another live node decided about last are left to it for a second: it knows when they are due. A
    /// device that two nodes advance nevertheless is advanced once: the second one finds nothing to do. Registers this
    /// node if it has no incarnation. Finds rows by `inapp_devices_due`.
    package func dueDevices(at now: Instant, upTo limit: Int) async throws(StoreError) -> [DeviceID] {
        try await readers.read { [membership] connection in
            try connection.run(
                """
                SELECT id FROM inapp_devices WHERE next_due <= $2 AND (next_due <= $2 - \(Self.turn) OR \(Self.isOwn))
                ORDER BY next_due LIMIT $3
                """, [.number(membership.current()), .number(now), .number(Int64(limit))]
            ).map { try $0.text(0) }
        }
    }

    /// When ``dueDevices(at:upTo:)`` may return a device. Reads a bounded number of devices: when none of them is this
    /// node's, its own are found a moment later.
    package func nextInAppDue() async throws(StoreError) -> Instant? {
        try await readers.read { [membership] connection in
            try connection.run(
                """
                SELECT min(CASE WHEN \(Self.isOwn) THEN next_due ELSE next_due + \(Self.turn) END) FROM (
                    SELECT next_due, node FROM inapp_devices WHERE next_due IS NOT NULL ORDER BY next_due LIMIT 1000
                ) AS inapp_devices
                """, [.number(membership.current())]
            ).first?.optionalNumber(0)
        }
    }
}
