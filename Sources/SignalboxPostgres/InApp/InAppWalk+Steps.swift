import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// The steps of the removal of in-app rows. Those of all nodes exclude each other; those about users and devices
/// exclude decisions about them too.
extension InAppWalk {
    /// The most messages, users or devices of one step.
    private static let count = 100
    /// The most users and devices of one step that lose the total of a removed message.
    private static let owners = 500
    /// The most rows of the log of changes in one step.
    private static let logged = 5000

    /// Returns the next step; nil when there is nothing more to remove.
    func run(in transaction: PostgresTransaction, schema: String?) throws -> InAppWalk? {
        // One node at a time: another one could remove a message whose totals this step is reading.
        try transaction.run(InAppKeys.lockAll, [.numbers([InAppKeys.lockOfUpkeep(in: schema)])])
        switch subject {
        case .endless: return try withdrawEndless(in: transaction)
        case .messages: return try removeMessages(in: transaction, schema)
        case .users: return try removeUnseen(.users, in: transaction, schema)
        case .devices: return try removeUnseen(.devices, in: transaction, schema)
        case .changes: return try removeChanges(in: transaction)
        }
    }

    // MARK: Messages

    /// Withdraws messages for users and devices that do not come back. They are removed like other withdrawn ones.
    private func withdrawEndless(in transaction: PostgresTransaction) throws -> InAppWalk? {
        let rows = try transaction.run(
            """
            SELECT registered_at, id, EXISTS (SELECT 1 FROM inapp_users u WHERE u.id = user_id AND u.seen >= $5)
                OR EXISTS (SELECT 1 FROM inapp_devices d WHERE d.id = device_id AND d.seen >= $5)
            FROM inapp_messages
            WHERE ends_at IS NULL AND withdrawn_at IS NULL AND (user_id IS NOT NULL OR device_id IS NOT NULL)
                AND (registered_at, id) > ($1, $2) AND registered_at < $3 ORDER BY registered_at, id LIMIT $4
            """, arguments + [.number(firstDay)]
        ).map { (Position(try $0.number(0), try $0.text(1)), try $0.flag(2)) }
        let unseen = rows.filter { !$0.1 }.map(\.0.id)
        if !unseen.isEmpty {
            let statement = PostgresStore.withdrawal(of: unseen, at: transaction.now)
            try transaction.run(statement.sql, statement.values)
        }
        return next(after: rows.last?.0, rows.count, of: Self.count)
    }

    /// The position, the limit in time, and a number of rows.
    private var arguments: [PostgresValue] {
        [.number(position.number), .text(position.id), .number(before), .number(Int64(Self.count))]
    }

    /// Removes the totals of messages before the messages. Their ids may be registered again and begin with revision 1.
    private func removeMessages(in transaction: PostgresTransaction, _ schema: String?) throws -> InAppWalk? {
        let rows = try transaction.run(
            """
            SELECT coalesce(withdrawn_at, ends_at), id FROM inapp_messages
            WHERE (coalesce(withdrawn_at, ends_at), id) > ($1, $2) AND coalesce(withdrawn_at, ends_at) < $3
            ORDER BY coalesce(withdrawn_at, ends_at), id LIMIT $4
            """, arguments
        ).map { Position(try $0.number(0), try $0.text(1)) }
        guard !rows.isEmpty else { return nil }
        let ids = rows.map(\.id)
        // With some of them left, the next step finds the same messages.
        guard try forgetTotals(of: ids, in: transaction, schema) else { return self }
        let statement = PostgresStore.removal(of: ids, before: before, at: transaction.now)
        try transaction.run(statement.sql, statement.values)
        return next(after: rows.last, rows.count, of: Self.count)
    }

    /// Removes totals of messages from the ledgers of cleared users and devices; totals of the others end on their
    /// owner's next day. Removes owners without any total left. False when there are more.
    private func forgetTotals(
        of messages: [MessageID], in transaction: PostgresTransaction, _ schema: String?
    ) throws -> Bool {
        let kept = try transaction.run(
            "DELETE FROM inapp_kept WHERE (message, kind, owner) IN (SELECT message, kind, owner FROM inapp_kept "
                + "WHERE message = ANY($1) ORDER BY message, kind, owner LIMIT \(Self.owners)) RETURNING kind, owner",
            [.texts(messages)]
        ).map { (try $0.number(0), try $0.text(1)) }
        guard !kept.isEmpty else { return true }
        var keys = InAppKeys()
        keys.users = ExactTextSet(kept.filter { $0.0 == 0 }.map(\.1))
        keys.devices = ExactTextSet(kept.filter { $0.0 == 1 }.map(\.1))
        // All of them at once, in the order of decisions.
        try transaction.run(InAppKeys.lockAll, [.numbers(keys.locksOfOwners(in: schema))])
        let forgotten = Set(messages.map(Ledger.Key.message))
        for table in InAppOwnerTable.allCases {
            let ids = table == .users ? keys.users : keys.devices
            guard !ids.isEmpty else { continue }
            let owners = try table.cleared(ids, in: transaction, schema)
            try table.replace(owners.map { ($0.id, $0.ledger.keeping { !forgotten.contains($0) }) }, in: transaction)
        }
        return kept.count < Self.owners
    }

    // MARK: Users and devices

    /// By the index of `seen`. A user who is seen between the read and the lock stays.
    private func removeUnseen(
        _ table: InAppOwnerTable, in transaction: PostgresTransaction, _ schema: String?
    ) throws -> InAppWalk? {
        let rows = try transaction.run(
            "SELECT seen, id FROM \(table.name) WHERE (seen, id) > ($1, $2) AND \(table.isUnseen(since: "$3")) "
                + "ORDER BY seen, id LIMIT $4",
            [.number(position.number), .text(position.id), .number(firstDay), .number(Int64(Self.count))]
        ).map { Position(try $0.number(0), try $0.text(1)) }
        try clear(table, rows.map(\.id), in: transaction, schema)
        return next(after: rows.last, rows.count, of: Self.count)
    }

    /// Removes displays and the offers of devices. The row itself stays while a limit without an end counts one of its
    /// totals; its column `seen` is empty then, so that no later walk finds it. Totals of messages are counted while
    /// the message is stored, because it may never be shown again to the same person.
    private func clear(
        _ table: InAppOwnerTable, _ ids: [String], in transaction: PostgresTransaction, _ schema: String?
    ) throws {
        guard !ids.isEmpty else { return }
        let owners = try table.unseen(ExactTextSet(ids), since: firstDay, in: transaction, schema)
        guard !owners.isEmpty else { return }
        let named = ExactTextSet(owners.flatMap { $0.ledger.totals.keys.compactMap(\.message) })
        let stored = ExactTextSet(
            try transaction.run("SELECT id FROM inapp_messages WHERE id = ANY($1)", [.texts(named.inOrder())])
                .map { try $0.text(0) })
        let ledgers = owners.map { owner in
            (owner.id, owner.ledger.keeping { key in key.message.map(stored.contains) ?? lifetimeTotals.contains(key) })
        }
        try table.replace(ledgers, in: transaction)
        let kept = ledgers.flatMap { id, ledger in ledger.totals.keys.compactMap { $0.message.map { ($0, id) } } }
            .sorted { $0 < $1 }
        var statements: [PostgresStatement] = []
        if !kept.isEmpty {
            statements.append(
                PostgresStatement(
                    """
                    INSERT INTO inapp_kept (message, owner, kind) SELECT message, owner, $3
                    FROM unnest($1, $2) AS kept (message, owner) ON CONFLICT DO NOTHING
                    """, [.texts(kept.map(\.0)), .texts(kept.map(\.1)), .number(table.kind)]))
        }
        if table == .devices {
            statements.append(
                PostgresStatement("DELETE FROM inapp_offers WHERE device = ANY($1)", [.texts(owners.map(\.id))]))
        }
        if !statements.isEmpty { try transaction.run(all: statements) }
    }

    // MARK: Changes

    /// Rows older than a day. A node that has not looked for 12 hours reads all messages instead, so it misses no
    /// change.
    private func removeChanges(in transaction: PostgresTransaction) throws -> InAppWalk? {
        let removed = try transaction.run(
            """
            DELETE FROM inapp_changes WHERE (transaction, number) IN (
                SELECT transaction, number FROM inapp_changes ORDER BY transaction, number LIMIT \(Self.logged)
            ) AND at < $1
            """, [.number(transaction.now.milliseconds - Self.day)]
        ).affected
        return removed == Self.logged ? self : nil
    }
}

extension Ledger {
    /// Without displays, and with those totals only.
    fileprivate func keeping(_ isKept: (Key) -> Bool) -> Ledger { Ledger(totals: totals.filter { isKept($0.key) }) }
}

extension Ledger.Key {
    fileprivate var message: MessageID? { if case .message(let id) = self { id } else { nil } }
}
