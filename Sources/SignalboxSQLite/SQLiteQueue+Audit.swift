import GRDB
package import SignalboxStore

/// The audit reads the whole file in one snapshot. It writes nothing, so it may run next to a gateway.
extension SQLiteQueue {
    /// One snapshot of the ledger, which has one row for each destination.
    package func accounts() async throws(StoreError) -> [Audit.Account] {
        try await file.read { db in try Self.ledger(in: db).map(\.account) }
    }

    /// Damaged content becomes a line of the audit. Throws only when the file cannot be read at all. Takes several
    /// times as long as reading the file: `PRAGMA integrity_check` reads every page. Waits for one of the three
    /// reading connections.
    package func audit() async throws(StoreError) -> Audit {
        // Read before the file, because a running gateway keeps accepting events.
        let record = QueueRecord(in: file.directory)
        return try await file.read { [path = file.path] db in
            var notes = DamageNotes(path: path)
            let accounts = try notes.reading("the ledger or a delivery", orElse: []) {
                try LedgerEntry.accounts(of: db.deliveryCounts(), by: Self.ledger(in: db))
            }
            let orphans = try notes.reading("deliveries", orElse: 0) {
                try db.count(
                    "SELECT count(*) FROM deliveries WHERE NOT EXISTS (SELECT 1 FROM events WHERE seq = event)")
            }
            let waits = try notes.reading("waits for files", orElse: 0) {
                try db.count(
                    """
                    SELECT count(*) FROM media_waits WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE id = delivery)
                    """)
            }
            let loss = try notes.reading("the queue's identity", orElse: nil) {
                QueueLoss(record, of: try QueueRecord(of: db))
            }
            let rows = try notes.reading("events", orElse: []) { try Self.unreadable(in: db) }
            let inApp = try notes.reading("in-app rows", orElse: []) { try InAppAudit.findings(in: db) }
            let findings = try Self.findings(in: db, &notes)
            return Audit(
                accounts: accounts, orphans: orphans, strayWaits: waits, damage: notes.lines + rows + inApp + findings,
                loss: loss?.reason)
        }
    }

    /// Collects content that cannot be read. Continues with the rest of the file, so that one audit names every
    /// damaged part.
    private struct DamageNotes {
        /// The file of the queue, for errors.
        let path: String
        /// One sentence for each damaged subject, in the order of the audit.
        private(set) var lines: [String] = []

        /// Returns `empty` for damaged content. Rethrows other errors. `subject`: the noun of the sentence.
        mutating func reading<T>(_ subject: String, orElse empty: T, _ body: () throws -> T) throws -> T {
            do {
                return try body()
            } catch {
                guard case .damaged(_, let reason) = StoreError(error, path: path) else { throw error }
                lines.append("\(subject) cannot be read: \(reason)")
                return empty
            }
        }
    }

    /// The defects that SQLite finds. Runs `PRAGMA integrity_check`, which reads the whole file. At most 20 findings
    /// of the whole file.
    private static func findings(in db: Database, _ notes: inout DamageNotes) throws -> [String] {
        /// `subject`: a table, or the maximum number of findings.
        func check(_ subject: String) throws -> [String] {
            try String.fetchAll(db, sql: "PRAGMA integrity_check(\(subject))").filter { $0 != "ok" }
        }
        if let all = try notes.reading("the file", orElse: nil, { try check("20") }) { return all }
        // SQLite named no defect, so name the tables that it cannot check.
        return try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            .flatMap { table in try notes.reading(table, orElse: []) { try check(table) } }
    }

    /// Rows that SQLite accepts, but with values that the gateway never writes. Reads all events and deliveries, and
    /// reports a count and the first reason for each table.
    private static func unreadable(in db: Database) throws -> [String] {
        /// Continues after each unreadable row.
        func find(
            _ table: String, of noun: String, _ columns: String, _ read: (StoredRow) throws -> Void
        ) throws -> [String] {
            var rows = UnreadableRows()
            let cursor = try StoredRow.fetchCursor(db, sql: "SELECT \(columns) FROM \(table)")
            while let row = try cursor.next() {
                do {
                    try read(row)
                } catch let error as DamagedValue { rows.add(error) }
            }
            return rows.finding(noun).map { [$0] } ?? []
        }
        return try find(
            "events", of: "event", "id, source, subject, accepted_at, typeof(body) IN ('blob', 'text') AS body"
        ) { row in
            _ = (try row.eventID(0), try row.text(1), try row.text(2), try row.date(3))
            guard try row.flag(4) else { throw DamagedValue("column body does not hold bytes") }
        }
            + find(
                "deliveries", of: "delivery",
                "destination, state, due, attempts, begun, forgiven, not_before, not_after, order_key"
            ) { row in
                _ = (try row.text(0), try row.word(1, as: DeliveryRecord.State.self), try row.date(2))
                _ = (try row.count(3), try row.count(4), try row.count(5))
                _ = (try row.optionalDate(6), try row.optionalDate(7), try row.optionalText(8))
            }
    }

    /// All rows of the ledger, by name.
    private static func ledger(in db: Database) throws -> [LedgerEntry] {
        let columns = LedgerEntry.columns.joined(separator: ", ")
        return try db.rows(
            "SELECT destination, accepted, undelivered_since, \(columns) FROM ledger ORDER BY destination"
        )
        .map { try LedgerEntry($0) }
    }
}
