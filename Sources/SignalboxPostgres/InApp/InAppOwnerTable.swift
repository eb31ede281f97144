import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// The tables of users and devices, as upkeep sees them.
enum InAppOwnerTable: CaseIterable {
    case users, devices

    /// The column `kind` of `inapp_kept`.
    var kind: Int64 { self == .users ? 0 : 1 }

    /// Constant text for statements.
    var name: String { self == .users ? "inapp_users" : "inapp_devices" }

    /// A condition: not seen since a time. A device with a due time does not meet it, because its offers must end
    /// first.
    func isUnseen(since time: String) -> String { "seen < \(time)" + (self == .devices ? " AND next_due IS NULL" : "") }

    /// Owners that were not seen since a time. They stay locked until the transaction ends. `since`: in milliseconds
    /// since 1970.
    func unseen(
        _ ids: ExactTextSet, since: Int64, in transaction: PostgresTransaction, _ schema: String?
    ) throws -> [(id: String, ledger: Ledger)] {
        try owners(ids, isUnseen(since: "$2"), [.number(since)], in: transaction, schema)
    }

    /// Owners without displays, which upkeep has removed, that were not seen since. They stay locked.
    func cleared(
        _ ids: ExactTextSet, in transaction: PostgresTransaction, _ schema: String?
    ) throws -> [(id: String, ledger: Ledger)] {
        try owners(ids, "seen IS NULL", [], in: transaction, schema)
    }

    /// Takes the locks of decisions first.
    private func owners(
        _ ids: ExactTextSet, _ condition: String, _ values: [PostgresValue], in transaction: PostgresTransaction,
        _ schema: String?
    ) throws -> [(id: String, ledger: Ledger)] {
        var keys = InAppKeys()
        if self == .users { keys.users = ids } else { keys.devices = ids }
        let results = try transaction.run(all: [
            PostgresStatement(InAppKeys.lockAll, [.numbers(keys.locksOfOwners(in: schema))]),
            PostgresStatement(
                "SELECT id, ledger FROM \(name) WHERE id = ANY($1) AND \(condition) ORDER BY id",
                [.texts(ids.inOrder())] + values),
        ])
        return try results[1].map { row in
            let id = try row.text(0)
            return (id, try row.bytes(1).withUnsafeBytes { try LedgerFields.read($0, of: id) })
        }
    }

    /// Stores the ledgers of cleared owners; removes owners whose ledger is empty. The caller holds the locks of the
    /// owners.
    func replace(_ ledgers: [(id: String, ledger: Ledger)], in transaction: PostgresTransaction) throws {
        let empty = ledgers.filter { $0.ledger.totals.isEmpty }.map(\.id)
        let kept = ledgers.filter { !$0.ledger.totals.isEmpty }
        var statements: [PostgresStatement] = []
        if !empty.isEmpty {
            statements.append(PostgresStatement("DELETE FROM \(name) WHERE id = ANY($1)", [.texts(empty)]))
        }
        if !kept.isEmpty {
            statements.append(
                PostgresStatement(
                    """
                    UPDATE \(name) SET seen = NULL, ledger = new.ledger FROM unnest($1, $2) AS new (id, ledger)
                    WHERE \(name).id = new.id
                    """,
                    [.texts(kept.map(\.id)), .manyBytes(kept.map { LedgerFields.write($0.ledger, of: $0.id) })]))
        }
        if !statements.isEmpty { try transaction.run(all: statements) }
    }
}
