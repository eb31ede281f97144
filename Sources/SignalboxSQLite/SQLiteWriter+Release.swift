import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// How deliveries that were held are let go.
extension SQLiteWriter {
    /// Lets a delivery go with what it carries now. One that is not held any more only loses its wait.
    func release(_ release: MediaRelease, in db: Database, _ transaction: inout Transaction) throws {
        let delivery = release.held.delivery
        guard let held = try held(delivery, in: db) else { return }
        if held.isWaiting {
            var variant = held.variant
            if let body = release.body { variant = try self.variant(body, for: held, in: db) }
            let due = max(transaction.now.milliseconds, held.notBefore ?? .min)
            try db.cachedStatement(sql: "UPDATE deliveries SET due = ?, variant = ? WHERE id = ?")
                .execute(arguments: [due, variant, delivery])
            if let old = held.variant, old != variant { try removeUnused(old, of: held.event, in: db) }
            for file in release.files {
                try touch(file, in: db, transaction)
                try use(file, by: held.event, in: db, &transaction)
            }
            transaction.spilled.insert(held.destination)
        }
        try Self.endWait(of: delivery, event: held.event, in: db)
    }

    /// A delivery waits for no file any more; what its event waits for goes with the last one.
    static func endWait(of delivery: Int64, event: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM media_waits WHERE delivery = ?").execute(arguments: [delivery])
        try db.cachedStatement(sql: endEvent).execute(arguments: ["event": event])
    }

    static let endEvent = """
        DELETE FROM media_events
        WHERE event = :event AND NOT EXISTS (SELECT 1 FROM media_waits WHERE event = :event)
        """

    private struct Held {
        let event: Int64
        let destination: DestinationName
        /// Whether it has neither ended nor been begun.
        let isWaiting: Bool
        let variant: Int64?
        /// Whether it gets the event as it is stored, but for its media.
        let isPlain: Bool
        let notBefore: Int64?
    }

    private func held(_ delivery: Int64, in db: Database) throws -> Held? {
        try StoredRow.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT d.event, d.destination, d.state = 'waiting' AND d.begun = 0, d.variant,
                        coalesce(v.plain, 1), d.not_before
                    FROM media_waits w JOIN deliveries d ON d.id = w.delivery LEFT JOIN variants v ON v.id = d.variant
                    WHERE w.delivery = ?
                    """), arguments: [delivery]
        ).map { row in
            Held(
                event: try row.number(0), destination: DestinationName(try row.text(1)), isWaiting: try row.flag(2),
                variant: try row.optionalNumber(3), isPlain: try row.flag(4), notBefore: try row.optionalNumber(5))
        }
    }

    /// The row of the body that a delivery is to carry: the event's own, one that another delivery has, or a new one.
    private func variant(_ body: [UInt8], for held: Held, in db: Database) throws -> Int64? {
        let body = Data(body)
        let isOwn = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT body = ? FROM events WHERE seq = ?"), arguments: [body, held.event])
        if isOwn == true { return nil }
        let same = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM variants WHERE event = ? AND plain = ? AND body = ?"),
            arguments: [held.event, held.isPlain, body])
        if let same { return same }
        try db.cachedStatement(sql: "INSERT INTO variants (event, body, plain) VALUES (?, ?, ?)")
            .execute(arguments: [held.event, body, held.isPlain])
        return db.lastInsertedRowID
    }

    private func removeUnused(_ variant: Int64, of event: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM variants
                WHERE id = :id AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = :event AND variant = :id)
                """
        ).execute(arguments: ["id": variant, "event": event])
    }

    private func touch(_ sha256: String, in db: Database, _ transaction: Transaction) throws {
        try db.cachedStatement(
            sql: "UPDATE files SET used_at = :now WHERE sha256 = :file AND abs(used_at - :now) >= \(Self.usedEvery)"
        ).execute(arguments: ["now": transaction.now.milliseconds, "file": sha256])
    }
}
