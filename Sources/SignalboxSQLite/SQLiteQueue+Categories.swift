import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// The sets of buttons that payloads define, for apps to register.
extension SQLiteQueue {
    /// How many are removed in one step.
    private static let step = 500

    /// A page of the `limit` categories that were seen last, in the byte order of their identifiers: at most `count`
    /// after `identifier`.
    package func categories(
        limit: Int, after identifier: String?, upTo count: Int
    ) async throws(StoreError) -> [CategoryRecord] {
        try await read { db in
            try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT identifier, definition FROM (
                        SELECT identifier, definition FROM categories ORDER BY last_seen DESC, identifier LIMIT ?1
                    ) WHERE ?2 IS NULL OR identifier > ?2 ORDER BY identifier LIMIT ?3
                    """, arguments: [limit, identifier, count]
            ).map { try CategoryRecord($0) }
        }
    }

    /// One of them; nil when there is none of this name.
    package func category(_ identifier: String) async throws(StoreError) -> CategoryRecord? {
        try await read { db in
            try StoredRow.fetchOne(
                db, sql: "SELECT identifier, definition FROM categories WHERE identifier = ?", arguments: [identifier]
            ).map { try CategoryRecord($0) }
        }
    }

    /// Forgets those that were not seen for too long, and of the others those beyond the count; returns how many that were.
    /// `pause` is called between two steps.
    func forgetCategories(
        beyond retention: CategoryRetention, pause: () async -> Void
    ) async throws(StoreError) -> Int {
        let oldest = now().addingTimeInterval(-(retention.age / .seconds(1))).milliseconds
        var removed = 0
        while true {
            let count = try await write { [knownCategories] db in
                try db.execute(
                    sql: """
                        DELETE FROM categories WHERE identifier IN (
                            SELECT identifier FROM (
                                SELECT identifier FROM categories WHERE last_seen < :oldest LIMIT :step)
                            UNION SELECT identifier FROM (
                                SELECT identifier FROM categories ORDER BY last_seen DESC, identifier
                                LIMIT :step OFFSET :count))
                        """, arguments: ["oldest": oldest, "step": Self.step, "count": retention.count])
                // Within the transaction, so that what is noted after it is known after it.
                if db.changesCount > 0 { knownCategories.removeAll() }
                return db.changesCount
            }
            removed += count
            // Each half of a step may find as many.
            if count < Self.step { return removed }
            await pause()
        }
    }
}

extension CategoryRecord {
    fileprivate init(_ row: StoredRow) throws {
        self.init(identifier: try row.text(0), definition: try row.bytes(1))
    }
}
