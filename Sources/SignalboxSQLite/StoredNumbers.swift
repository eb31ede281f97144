import GRDB

/// The numbers of events and deliveries. They grow even when the last row is removed: a reused number would name
/// another row to a client that still holds it.
enum StoredNumbers {
    static func lastEvent(in db: Database) throws -> Int64 {
        try last("SELECT max(coalesce((SELECT max(seq) FROM events), 0), last_event) FROM identity", in: db)
            .trusted(as: "the last event's number")
    }

    static func lastDelivery(in db: Database) throws -> Int64 {
        try last("SELECT max(coalesce((SELECT max(id) FROM deliveries), 0), last_delivery) FROM identity", in: db)
            .trusted(as: "the last delivery's number")
    }

    static func identity(in db: Database) throws -> String {
        guard let id = try StoredRow.fetchOne(db, sql: "SELECT id FROM identity")?.text(0) else { throw missing }
        return id
    }

    /// Called before rows are removed.
    static func keep(in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE identity SET
                    last_event = max(last_event, coalesce((SELECT max(seq) FROM events), 0)),
                    last_delivery = max(last_delivery, coalesce((SELECT max(id) FROM deliveries), 0))
                """
        ).execute()
    }

    private static func last(_ sql: String, in db: Database) throws -> Int64 {
        guard let last = try Int64.fetchOne(db.cachedStatement(sql: sql)) else { throw missing }
        return last
    }

    private static let missing = DamagedValue("the table identity has no row")
}
