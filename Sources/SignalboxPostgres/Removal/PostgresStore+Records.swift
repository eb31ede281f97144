import Foundation
import SignalboxStore

/// A table of records about requests or events, whose oldest rows are forgotten.
enum RecordTable: String {
    /// The name is also that of the table, which has the columns `source`, `key` and `at`.
    case requests, duplicates

    /// The approximate size of a row with its entries in indexes.
    var bytes: String {
        switch self {
        case .requests: "\(ContentSize.stored("answer")) + octet_length(digest) + 2 * octet_length(key) + 170"
        case .duplicates: "2 * octet_length(key) + 160"
        }
    }
}

/// Removal of records that are kept for a time: each by the steps of ``PostgresStore/remove(beyond:pause:)``.
extension PostgresStore {
    /// Forgets the oldest rows of a table. `isFull`: whether there may be more. Removes ``PostgresStore/removalStep``
    /// rows at most. Rows that another transaction has locked are left to a later call, so `isFull` may be false
    /// although some remain. `bytes`: the approximate size of the removed rows.
    func forget(_ table: RecordTable, before date: Date) async throws(StoreError) -> (isFull: Bool, bytes: Int64) {
        try await writer(.others).write { transaction in
            let row = try transaction.run(
                """
                WITH old AS MATERIALIZED (
                    SELECT source, key FROM \(table.rawValue) WHERE at < $1 ORDER BY at LIMIT $2
                    FOR UPDATE SKIP LOCKED
                ), gone AS (
                    DELETE FROM \(table.rawValue) WHERE (source, key) IN (SELECT source, key FROM old)
                    RETURNING \(table.bytes) AS bytes
                )
                SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone
                """, [.time(date), .number(Int64(Self.removalStep))]
            ).first
            return (try row?.count(0) == Self.removalStep, try row?.number(1) ?? 0)
        }
    }

    /// Forgets payloads that were kept until their deliveries ended. A dead delivery can be retried, so its payload
    /// stays. Looks first: a step with nothing to forget writes nothing. Each step is a transaction of its own, in the
    /// order of the events.
    func forgetPayloads(pause: () async -> Void) async throws(StoreError) {
        var position: Int64? = .min
        while let start = position {
            let step = try await readers.rows(
                """
                SELECT event, \(Self.isOver("p.event")) FROM payloads p WHERE NOT lasts AND event > $1
                ORDER BY event LIMIT $2
                """, [.number(start), .number(Int64(Self.removalStep))]
            ) { (event: try $0.number(0), isOver: try $0.flag(1)) }
            let over = step.filter(\.isOver).map(\.event)
            if !over.isEmpty {
                try await writer(.others).write { transaction in
                    _ = try transaction.run(
                        "DELETE FROM payloads p WHERE event = ANY ($1) AND NOT lasts AND \(Self.isOver("p.event"))",
                        [.numbers(over)])
                }
            }
            position = step.count == Self.removalStep ? step.last?.event : nil
            if position != nil { await pause() }
        }
    }

    /// Whether no delivery of an event waits or is dead. Not `EXISTS`, for which the planner might read all deliveries,
    /// and not the state alone, for which it might read the partial index of all dead ones.
    private static func isOver(_ event: String) -> String {
        """
        (SELECT 1 FROM queue WHERE event = \(event) LIMIT 1) IS NULL
            AND (SELECT 1 FROM ended WHERE event = \(event) AND state || '' = 'dead' LIMIT 1) IS NULL
        """
    }

    /// Forgets categories that were not seen for too long, and those beyond the count. Removes up to two steps of
    /// categories in each transaction. This node then stores the next event's category again; others do so within the
    /// hour for which they know it.
    func forgetCategories(
        beyond retention: CategoryRetention, at now: Date, pause: () async -> Void
    ) async throws(StoreError) {
        while true {
            let count = try await writer(.others).write { transaction in
                try transaction.run(
                    """
                    WITH old AS (
                        (SELECT identifier FROM categories WHERE last_seen < $1 LIMIT $2)
                        UNION
                        (SELECT identifier FROM categories ORDER BY last_seen DESC, identifier LIMIT $2 OFFSET $3)
                    ), found AS MATERIALIZED (
                        SELECT identifier FROM categories WHERE identifier IN (SELECT identifier FROM old)
                        ORDER BY identifier FOR UPDATE
                    )
                    DELETE FROM categories WHERE identifier IN (SELECT identifier FROM found)
                    """,
                    [.time(now - retention.age), .number(Int64(Self.removalStep)), .number(Int64(retention.count))]
                ).affected
            }
            if count > 0 { categories.removeAll() }
            guard count >= Self.removalStep else { return }
            await pause()
        }
    }

    /// Keeps the newest actions, at most ``StoreLimits/actions``, and removes the others in steps. Numbers may have
    /// gaps, so fewer may be kept.
    func forgetActions(pause: () async -> Void) async throws(StoreError) {
        while try await writer(.others).write({ transaction in
            try transaction.run(
                """
                DELETE FROM actions WHERE id IN (
                    SELECT id FROM actions WHERE id <= (SELECT max(id) FROM actions) - $1 ORDER BY id LIMIT $2)
                """, [.number(Int64(StoreLimits.actions)), .number(Int64(Self.removalStep))]
            ).affected == Self.removalStep
        }) { await pause() }
    }
}
