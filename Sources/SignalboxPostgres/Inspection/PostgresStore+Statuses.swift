package import Foundation
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Destinations that accept nothing for now, as operators see and change them.
extension PostgresStore {
    /// Only destinations that are not active. A paused destination is reported as paused, even while it backs off. If
    /// several nodes back off, an open breaker precedes a requested pause; among equals, the latest end decides.
    package func statuses() async throws(StoreError) -> [DestinationName: DestinationStatus] {
        let now = now
        return try await readers.read { connection in
            let rows = try connection.run(all: [
                StoredStatuses.statement,
                PostgresStatement(
                    """
                    SELECT DISTINCT ON (destination) destination, kind, reason, since, until FROM backoffs
                    ORDER BY destination, kind = 'breaker-open' DESC, until DESC
                    """),
            ])
            let stored = try StoredStatuses(rows[0])
            let backoffs = try rows[1].map { row in (try row.destination(0), try DestinationBackoff(row, from: 1)) }
            return DestinationStatus.all(
                states: stored.states, withheld: stored.withheld,
                backoffs: Dictionary(backoffs, uniquingKeysWith: { first, _ in first }), at: now)
        }
    }

    /// The lanes of this node follow after the commit, those of others at their next poll. A resumed destination loses
    /// its withheld permission too, and the backoffs of all nodes end now. A row without a state has the time of the
    /// last resume, by which nodes notice it. Durable when it returns. The time of the status is that of the
    /// transaction, even for a repeated pause.
    package func set(
        _ state: DestinationState?, of destination: DestinationName, until: Date?, as action: OperatorAction?
    ) async throws(StoreError) {
        let now = try await writer(.others).write { transaction in
            if let action { try self.record(action, count: nil, in: transaction) }
            let change = PostgresStatement(
                """
                INSERT INTO destinations (name, state, reason, since, until) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (name) DO UPDATE SET state = excluded.state, reason = excluded.reason,
                    since = excluded.since, until = excluded.until,
                    withheld_reason = CASE WHEN excluded.state IS NULL THEN NULL ELSE destinations.withheld_reason END,
                    withheld_since = CASE WHEN excluded.state IS NULL THEN NULL ELSE destinations.withheld_since END
                """,
                [
                    .destination(destination), .text(state?.rawValue), .text(state == nil ? nil : action?.reason),
                    .time(transaction.now), .time(state == nil ? nil : until),
                ])
            let ends = state == nil ? Self.endedBackoff(of: destination, at: transaction.now) : []
            try transaction.run(all: [change] + ends)
            return transaction.now
        }
        changeStatuses { lanes in
            guard state == nil else { return lanes.deactivate(destination, until: until) }
            // Rounded as in the table: the next poll would otherwise apply it again, and end a newer backoff.
            resumes.withLock { $0?[destination] = Date(milliseconds: now.milliseconds) }
            // As in the table: until the next poll, the lane would otherwise begin the backoff again.
            othersBackoffs.withLock { _ = $0[destination]?.end(at: now) }
            lanes.permit(by: destination)
            lanes.activate(destination)
        }
    }

    /// Open breakers stay recorded until an attempt succeeds. One node may probe at once.
    private static func endedBackoff(of destination: DestinationName, at now: Date) -> [PostgresStatement] {
        [
            PostgresStatement(
                "UPDATE backoffs SET until = $2 WHERE destination = $1", [.destination(destination), .time(now)]),
            PostgresStatement("DELETE FROM duties WHERE name = $1", [.text(probe(of: destination))]),
        ]
    }
}
