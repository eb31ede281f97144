import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

extension SQLiteQueue {
    /// Counts everything in one snapshot, and checks the whole file including its indexes. Takes several times as long
    /// as reading the file. Unreadable content is part of the result.
    package func audit() async throws(StoreError) -> Audit {
        // Read before the file, because a running gateway keeps accepting events.
        let record = QueueRecord(in: directory)
        return try await read { [path] db in
            var notes = DamageNotes(path: path)
            let accounts = try notes.reading("the ledger or a delivery", orElse: []) { try Self.accounts(in: db) }
            let orphans = try notes.reading("deliveries", orElse: nil) {
                try Int.fetchOne(
                    db,
                    sql: "SELECT count(*) FROM deliveries WHERE NOT EXISTS (SELECT 1 FROM events WHERE seq = event)")
            }
            let waits = try notes.reading("waits for files", orElse: nil) {
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT count(*) FROM media_waits
                        WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE id = delivery)
                        """)
            }
            let loss = try notes.reading("the queue's identity", orElse: nil) {
                QueueLoss(record, of: try QueueRecord(of: db))
            }
            let rows = try notes.reading("events", orElse: []) { try Self.unreadable(in: db) }
            let findings = try Self.findings(in: db, &notes)
            return Audit(
                accounts: accounts, orphans: orphans ?? 0, strayWaits: waits ?? 0,
                damage: notes.lines + rows + findings, loss: loss?.words)
        }
    }

    /// Collects content that cannot be read.
    private struct DamageNotes {
        let path: String
        private(set) var lines: [String] = []

        init(path: String) { self.path = path }

        mutating func reading<T>(_ what: String, orElse empty: T, _ body: () throws -> T) throws -> T {
            do {
                return try body()
            } catch {
                guard case .damaged(_, let reason) = StoreError(error, path: path) else { throw error }
                lines.append("\(what) cannot be read: \(reason)")
                return empty
            }
        }
    }

    /// The defects that SQLite finds.
    private static func findings(in db: Database, _ notes: inout DamageNotes) throws -> [String] {
        let all = try notes.reading("the file", orElse: nil) { try check("20", in: db) }
        if let all { return all }
        // SQLite named no defect, so name the tables that it cannot check.
        var findings: [String] = []
        for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
            findings += try notes.reading(table, orElse: nil) { try check(table, in: db) } ?? []
        }
        return findings
    }

    /// `subject`: a table, or the maximum number of findings.
    private static func check(_ subject: String, in db: Database) throws -> [String]? {
        try String.fetchAll(db, sql: "PRAGMA integrity_check(\(subject))").filter { $0 != "ok" }
    }

    /// Rows that SQLite accepts, but with values that the gateway never writes.
    private static func unreadable(in db: Database) throws -> [String] {
        func count(_ sql: String, _ read: (StoredRow) throws -> Void) throws -> (count: Int, first: String?) {
            var found: (count: Int, first: String?) = (0, nil)
            let rows = try StoredRow.fetchCursor(db, sql: sql)
            while let row = try rows.next() {
                do {
                    try read(row)
                } catch let error as DamagedValue {
                    found = (found.count + 1, found.first ?? error.reason)
                }
            }
            return found
        }
        let events = try count(
            "SELECT id, source, subject, accepted_at, typeof(body) IN ('blob', 'text') AS body FROM events"
        ) { row in
            _ = (try row.eventID(0), try row.text(1), try row.text(2), try row.date(3))
            guard try row.flag(4) else { throw DamagedValue("column body does not hold bytes") }
        }
        let deliveries = try count(
            """
            SELECT destination, state, due, attempts, begun, forgiven, not_before, not_after, order_key
            FROM deliveries
            """
        ) { row in
            _ = (try row.text(0), try row.word(1, as: DeliveryRecord.State.self), try row.date(2))
            _ = (try row.count(3), try row.count(4), try row.count(5))
            _ = (try row.optionalDate(6), try row.optionalDate(7), try row.optionalText(8))
        }
        return [("events", events), ("deliveries", deliveries)].compactMap { table, found in
            found.first.map { "\(found.count) \(table) cannot be read, the first because \($0)" }
        }
    }

    private static func accounts(in db: Database) throws -> [Audit.Account] {
        var present: [DestinationName: [DeliveryRecord.State: Int]] = [:]
        for row in try StoredRow.fetchAll(
            db, sql: "SELECT destination, state, count(*) FROM deliveries GROUP BY destination, state")
        {
            present[DestinationName(try row.text(0)), default: [:]][try row.word(1)] = try row.count(2)
        }
        var accounts: [Audit.Account] = []
        let states = DeliveryRecord.State.allCases
        let columns = states.map(\.rawValue).joined(separator: ", ")
        for row in try StoredRow.fetchAll(
            db, sql: "SELECT destination, accepted, undelivered_since, \(columns) FROM ledger ORDER BY destination")
        {
            let name = DestinationName(try row.text(0))
            var removed: [DeliveryRecord.State: Int] = [:]
            for (column, state) in states.enumerated() { removed[state] = try row.count(column + 3) }
            accounts.append(
                Audit.Account(
                    destination: name, accepted: try row.count(1), present: present[name] ?? [:], removed: removed,
                    undeliveredSince: try row.optionalDate(2)))
            present[name] = nil
        }
        for (name, states) in present.sorted(by: { $0.key < $1.key }) {
            accounts.append(Audit.Account(destination: name, accepted: 0, present: states, removed: [:]))
        }
        return accounts
    }
}
