import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// Reads every in-app row, as a decision would.
/// Part of the audit, which `signalbox audit` prints. It runs in one read transaction and does not block decisions.
/// A finding never stops the others from being found.
enum InAppAudit {
    /// One line for each table with rows that cannot be read or have no owner.
    /// Reads every row, so its time grows with the tables; its memory does not. A line names the table and the
    /// number of rows, never their content. Throws the errors of SQLite; a row that cannot be read is a finding.
    static func findings(in db: Database) throws -> [String] { try unreadable(in: db) + orphans(in: db) }

    /// The reads are those of decisions, so a table without findings can be decided over.
    private static func unreadable(in db: Database) throws -> [String] {
        let displays = "kind, owner, \(Ledger.Display.columns)"
        return try [
            find("inapp_messages", StoredInAppMessage.columns, in: db) { _ = try StoredInAppMessage($0) },
            find("inapp_users", "\(UserRow.columns), id", in: db) { row in
                _ = try UserRow.read(row, id: try row.text(4))
            },
            find("inapp_devices", "\(DeviceRow.columns), id", in: db) { row in
                let id = try row.text(14)
                try check(DeviceRow.read(row, id: id).stored?.offers ?? [], of: id, in: db)
            },
            find("inapp_offers", Offer.columns.joined(separator: ", "), in: db) { _ = try Offer($0) },
            find("inapp_displays", displays, in: db) { row in
                _ = (try row.number(0), try Ledger.Display(row, from: 2, owner: try row.text(1)))
            },
            find("inapp_totals", "kind, owner, what, name, count, last", in: db) { row in
                _ = (try row.number(0), try row.text(1), try Ledger.total(row, from: 2))
            },
            find("inapp_tallies", "message, committed, reserved", in: db) { row in
                _ = (try row.text(0), try Tally(row, from: 1))
            },
        ].compactMap(\.self)
    }

    /// The number of rows that `read` rejects, with the first reason; nil for none.
    /// Continues after a row that `read` rejects, to count all of them.
    private static func find(
        _ table: String, _ columns: String, in db: Database, _ read: (RowColumns) throws -> Void
    ) throws -> String? {
        var rows = UnreadableRows()
        try RowStatement(db, sql: "SELECT \(columns) FROM \(table)").forEach({ _ in }) { row in
            do {
                try read(row)
            } catch let error as DamagedValue { rows.add(error) }
        }
        return rows.finding("row", of: table)
    }

    /// Throws ``DamagedValue`` for a number without an offer of the device.
    private static func check(_ offers: [Int64], of device: DeviceID, in db: Database) throws {
        for number in offers {
            guard try db.flag("SELECT 1 FROM inapp_offers WHERE seq = ? AND device = ?", [number, device]) else {
                throw InAppReader.lostOffer
            }
        }
    }

    /// Displays and totals whose device or user has no row, and offers that no device lists. Such rows are never read
    /// and never removed. Ledgers are in the row of their owner and cannot lose it.
    private static func orphans(in db: Database) throws -> [String] {
        let owners = """
            (kind = 0 AND EXISTS (SELECT 1 FROM inapp_users WHERE id = owner))
            OR (kind = 1 AND EXISTS (SELECT 1 FROM inapp_devices WHERE id = owner))
            """
        let listed = "instr(' ' || d.offers || ' ', ' ' || seq || ' ') > 0"
        return try [
            ("inapp_offers", "EXISTS (SELECT 1 FROM inapp_devices d WHERE d.id = device AND \(listed))", "device"),
            ("inapp_displays", owners, "user or device"), ("inapp_totals", owners, "user or device"),
        ].compactMap { table, isOwned, owner in
            let count = try db.count("SELECT count(*) FROM \(table) WHERE NOT (\(isOwned))")
            let verb = count == 1 ? "belongs" : "belong"
            let listing = table == "inapp_offers" ? " that lists \(count == 1 ? "it" : "them")" : ""
            return count == 0 ? nil : "\(Counted.words(count, "row")) of \(table) \(verb) to no \(owner)\(listing)"
        }
    }
}
