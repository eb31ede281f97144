import Foundation
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Destinations that accept nothing for now, or withhold their permission.
struct StoredStatuses: Sendable {
    /// Paused and disabled ones.
    var states: [DestinationName: DestinationStatus] = [:]
    /// Destinations without permission. A destination may be in both.
    var withheld: [DestinationName: DestinationStatus] = [:]
    /// When an operator last resumed the active ones; those without a known time are missing.
    var resumes: [DestinationName: Date] = [:]

    init() {}

    /// Scans the table, because no index has these columns. It has one row for each destination that was ever changed
    /// or limited.
    static let statement = PostgresStatement(
        """
        SELECT name, state, reason, since, until, withheld_reason, withheld_since FROM destinations
        WHERE state IS NOT NULL OR since IS NOT NULL OR withheld_since IS NOT NULL
        """)

    /// Decodes the rows of ``statement``.
    init(_ rows: PostgresRows) throws {
        for row in rows {
            let name = try row.destination(0)
            if try row.optionalText(1) != nil {
                states[name] = try DestinationStatus(row, from: 1)
            } else if let resumed = try row.optionalDate(3) {
                resumes[name] = resumed
            }
            if try row.optionalDate(6) != nil { withheld[name] = try DestinationStatus(withheld: row, from: 5) }
        }
    }
}

extension PostgresStore {
    /// Counts the changes that this process made. A poll that began before one of them may not know it.
    var statusEpoch: Int { statusChanges.withLock(\.self) }

    /// Changes the destinations in memory, after a commit that changed them.
    func changeStatuses(_ change: (Lanes) -> Void) {
        statusChanges.withLock {
            $0 += 1
            change(lanes)
        }
    }

    /// Passes the stored statuses to the lanes, unless this process changed one since `epoch`: the next poll then does.
    func adopt(_ statuses: StoredStatuses, since epoch: Int) {
        statusChanges.withLock {
            guard $0 == epoch else { return }
            lanes.adopt(inactive: statuses.states, withheld: Set(statuses.withheld.keys))
        }
    }

    /// Ends the pauses that are over, each with an action of the gateway in the same transaction: one node ends it. A
    /// pause that was changed meanwhile stays. Returns those that this node ended. One transaction for each pause.
    func endPauses() async throws(StoreError) -> [DestinationName] {
        var resumed: [DestinationName] = []
        for destination in lanes.endedPauses(at: now) {
            let isOver = try await writer(.others).write { transaction in
                let ended = try transaction.run(
                    """
                    UPDATE destinations SET state = NULL, reason = NULL, since = NULL, until = NULL
                    WHERE name = $1 AND state = 'paused' AND until <= $2 RETURNING name
                    """, [.destination(destination), .time(transaction.now)])
                guard !ended.isEmpty else { return false }
                let action = OperatorAction(
                    by: "gateway", via: .gateway, "destinations.resume", target: destination.name,
                    reason: "the pause is over")
                try self.record(action, count: nil, in: transaction)
                return true
            }
            // Otherwise another node ended or changed it: the next poll shows which.
            guard isOver else { continue }
            changeStatuses { $0.endPause(of: destination, at: self.now) }
            resumed.append(destination)
        }
        return resumed
    }

    // MARK: Permissions

    /// The lanes know it before the commit, even if the commit fails.
    package func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError) {
        changeStatuses { $0.withhold(by: destination) }
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                INSERT INTO destinations AS d (name, withheld_reason, withheld_since) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET withheld_reason = excluded.withheld_reason,
                    withheld_since = coalesce(d.withheld_since, excluded.withheld_since)
                """, [.destination(destination), .text(reason), .time(transaction.now)])
        }
        // A poll that began before the commit does not know it.
        changeStatuses { $0.withhold(by: destination) }
    }

    /// The lanes know it after the commit. Writes nothing for a destination whose permission is not missing.
    package func permit(by destination: DestinationName) async throws(StoreError) {
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                UPDATE destinations SET withheld_reason = NULL, withheld_since = NULL
                WHERE name = $1 AND withheld_since IS NOT NULL
                """, [.destination(destination)])
        }
        changeStatuses { $0.permit(by: destination) }
    }

    // MARK: Backoffs

    /// Each node records its own. A backoff of the same kind keeps the time at which it began.
    package func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError) {
        let isOpen = backoff?.kind == .breakerOpen
        ownBreakers.change(destination, isOpen: false)
        try await writer(.others).write { transaction in
            guard let backoff else {
                // Other nodes may probe as well.
                _ = try transaction.run(all: [
                    PostgresStatement(
                        "DELETE FROM backoffs WHERE destination = $1 AND node = $2",
                        [.destination(destination), .number(transaction.node)]),
                    PostgresStatement(
                        "DELETE FROM duties WHERE name = $1 AND node = $2",
                        [.text(Self.probe(of: destination)), .number(transaction.node)]),
                ])
                return
            }
            _ = try transaction.run(
                """
                INSERT INTO backoffs AS b (destination, node, kind, reason, since, until)
                VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (destination, node) DO UPDATE SET reason = excluded.reason, until = excluded.until,
                    since = CASE WHEN b.kind = excluded.kind THEN b.since ELSE excluded.since END, kind = excluded.kind
                """,
                [
                    .destination(destination), .number(transaction.node), .text(backoff.kind.rawValue),
                    .text(backoff.reason), .time(backoff.since), .time(backoff.until),
                ])
        }
        ownBreakers.change(destination, isOpen: isOpen)
    }

    /// Removes the records of all nodes and the duty of the probe. Lanes of other nodes notice it at their next poll.
    package func endBreakers(of destination: DestinationName) async throws(StoreError) {
        ownBreakers.change(destination, isOpen: false)
        try await writer(.others).write { transaction in
            _ = try transaction.run(all: [
                PostgresStatement(
                    "DELETE FROM backoffs WHERE destination = $1 AND kind = $2",
                    [.destination(destination), .text(DestinationBackoff.Kind.breakerOpen.rawValue)]),
                PostgresStatement("DELETE FROM duties WHERE name = $1", [.text(Self.probe(of: destination))]),
            ])
        }
    }

    /// Removes the backoffs of this node and of nodes that ended.
    package func forgetBackoffs() async throws(StoreError) {
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                DELETE FROM backoffs WHERE node = $1
                    OR NOT EXISTS (SELECT FROM nodes n WHERE n.id = backoffs.node AND n.is_live)
                """, [.number(transaction.node)])
        }
    }
}
