import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

/// The output of `signalbox store check` and `signalbox store migrate`.
package struct StoreCheck: Sendable {
    private let tables: TableStatus
    /// Nil for tables that this version cannot read.
    private let audit: Audit?

    /// `audit`: nil if the tables are of another version, because they cannot be audited.
    package init(_ tables: TableStatus, _ audit: Audit?) { (self.tables, self.audit) = (tables, audit) }

    /// Whether the tables fit, and the audit found neither loss nor damage.
    package var isRight: Bool { tables.fits && (audit?.isRight ?? false) }

    /// The result as text: the tables, then the table of the ledger. Empty for tables that do not fit; ``findings``
    /// says why.
    package var lines: [String] {
        guard tables.fits else { return [] }
        let later = tables.unknown.isEmpty ? "" : "; a later version added \(tables.unknown.joined(separator: ", "))"
        return ["The tables of \(tables.place) fit this version\(later)."] + (audit?.table ?? [])
    }

    /// Sentences for standard error; empty if all is right.
    package var findings: [String] {
        if tables.isTooNew {
            let names = tables.unknown.isEmpty ? "" : " (migrations \(tables.unknown.joined(separator: ", ")))"
            return [
                "The tables of \(tables.place) were made by a newer version of signalbox\(names). Use that version, or a "
                    + "later one."
            ]
        }
        guard tables.pending.isEmpty else {
            return [
                "The tables of \(tables.place) lack the migrations \(tables.pending.joined(separator: ", ")). Run: "
                    + "signalbox store migrate."
            ]
        }
        return audit?.findings ?? []
    }

    /// One line: `tables` with `fit`, `pending` and `later`, and `audit` as `signalbox audit --json` prints it, or
    /// null.
    package var json: String {
        JSONText.members { json in
            json.object("tables") { json in
                json.member("fit", tables.fits)
                json.member("pending", tables.pending)
                json.member("later", tables.unknown)
            }
            json.key("audit")
            if let audit { json.raw(Array(audit.json.utf8)) } else { json.null() }
        }
    }

    /// The result of a migration. `applied`: names of migrations.
    package static func migrated(_ applied: [String], asJSON: Bool) -> String {
        guard !asJSON else { return JSONText.members { json in json.member("applied", applied) } }
        return applied.isEmpty
            ? "No migration was pending."
            : "Applied \(Counted.words(applied.count, "migration")): \(applied.joined(separator: ", "))."
    }
}
