import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// The statements that write the changed rows of a group: at most three for each table, over arrays, in the order of
/// keys.
extension InAppRowsInMemory {
    /// `node`: takes the due times of the changed devices.
    func statements(of node: Int64) -> [PostgresStatement] {
        userStatements + deviceStatements(of: node) + offerStatements + tallyStatements
    }

    // MARK: Owners

    /// Sorted by the bytes of the ids. The owners are locked, so no other decision changes the same rows.
    private var userStatements: [PostgresStatement] {
        let changed = users.values.filter(\.isChanged).sorted { ExactText($0.state.id) < ExactText($1.state.id) }
        guard !changed.isEmpty else { return [] }
        return [
            PostgresStatement(
                Self.putUsers,
                [
                    .texts(changed.map(\.state.id)), .numbers(changed.map(\.state.lastNow)),
                    .numbers(changed.map(\.seen)),
                    .manyBytes(changed.map { LedgerFields.write($0.state.ledger, of: $0.state.id) }),
                ])
        ]
    }

    /// Replaces the whole row: it was read under the lock of its owner.
    private static let putUsers = """
        INSERT INTO inapp_users (\(InAppUserRow.columns)) SELECT * FROM unnest($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET last_now = excluded.last_now, seen = excluded.seen, ledger = excluded.ledger
        """

    private func deviceStatements(of node: Int64) -> [PostgresStatement] {
        let changed = devices.values.filter(\.isChanged).sorted { ExactText($0.state.id) < ExactText($1.state.id) }
        guard !changed.isEmpty else { return [] }
        let states = changed.map(\.state)
        return [
            PostgresStatement(
                Self.putDevices,
                [
                    .texts(states.map(\.id)), .texts(states.map(\.user)), .numbers(states.map(\.lastNow)),
                    .numbers(states.map(\.lastSeen)), .numbers(states.map { Int64($0.session) }),
                    .numbers(states.map(\.lastEnd)), .texts(states.map(\.lastWalkthrough)),
                    .numbers(states.map { Int64($0.lastOrder) }), .numbers(states.map(\.lastDecision)),
                    .manyBytes(states.map { DeviceFields.write($0) }),
                    .numbers(changed.map(\.nextDue)), .numbers(changed.map(\.seen)),
                    .manyBytes(states.map { LedgerFields.write($0.ledger, of: $0.id) }), .number(node),
                ])
        ]
    }

    private static let putDevices = """
        INSERT INTO inapp_devices (\(InAppDeviceRow.columns), node)
        SELECT *, $14 FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        ON CONFLICT (id) DO UPDATE SET \(assignments(of: InAppDeviceRow.columns)), node = excluded.node
        """

    /// Each column but the id, with the value of the row that could not be inserted.
    private static func assignments(of columns: String) -> String {
        columns.split(separator: ", ").dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    }

    // MARK: Offers

    /// Removals first: an offer of the same id may have been made since.
    private var offerStatements: [PostgresStatement] {
        let changed = offers.values.filter(\.isChanged).sorted { ExactText($0.offer.id) < ExactText($1.offer.id) }
        let stored = changed.filter { $0.number != nil }.map(\.offer)
        let new = changed.filter { $0.number == nil }.map(\.offer)
        var statements: [PostgresStatement] = []
        if !removed.isEmpty {
            let ids = removed.inOrder().map(\.key)
            statements.append(PostgresStatement("DELETE FROM inapp_offers WHERE id = ANY($1)", [.texts(ids)]))
        }
        if !new.isEmpty { statements.append(PostgresStatement(Self.insertOffers, Self.columns(of: new))) }
        if !stored.isEmpty { statements.append(PostgresStatement(Self.updateOffers, Self.columns(of: stored))) }
        return statements
    }

    /// One for each column of ``Offer/columns``.
    private static let arguments = (1...26).map { "$\($0)" }.joined(separator: ", ")
    /// Throws for an id that is stored already; the removals of the group come before it.
    private static let insertOffers = """
        INSERT INTO inapp_offers (\(Offer.columns)) SELECT * FROM unnest(\(arguments))
        """
    /// An offer keeps its device.
    private static let updateOffers = """
        UPDATE inapp_offers SET \(newValues) FROM unnest(\(arguments)) AS new (\(Offer.columns))
        WHERE inapp_offers.id = new.id
        """
    /// Without `id` and `device`, the first two columns.
    private static let newValues = Offer.columns.split(separator: ", ").dropFirst(2).map { "\($0) = new.\($0)" }
        .joined(separator: ", ")

    /// In the order of ``Offer/columns``.
    private static func columns(of offers: [Offer]) -> [PostgresValue] {
        func numbers(_ number: (Offer) -> Int) -> PostgresValue { .numbers(offers.map { Int64(number($0)) }) }
        return [
            .texts(offers.map(\.id)), .texts(offers.map(\.device)), .texts(offers.map(\.user)),
            .texts(offers.map(\.message)), numbers(\.revision), .texts(offers.map(\.vendor)),
            .texts(offers.map(\.kind.rawValue)), .texts(offers.map(\.state.rawValue)),
            .numbers(offers.map(\.triggeredAt)), .numbers(offers.map(\.due)), .numbers(offers.map(\.lapse)),
            numbers(\.flags.rawValue), numbers(\.session), numbers(\.order), .numbers(offers.map(\.until)),
            .numbers(offers.map(\.leaseUntil)), numbers(\.unanswered), .numbers(offers.map(\.shownAt)),
            .numbers(offers.map(\.endedAt)), .texts(offers.map(\.reason)), numbers(\.clicks),
            .texts(offers.map(\.slot?.name)), .texts(offers.map(\.slot?.productID)), .texts(offers.map(\.slot?.sku)),
            .texts(offers.map(\.page)), .manyBytes(offers.map(\.lists)),
        ]
    }

    // MARK: Tallies

    /// Adds to the stored numbers: decisions that only end displays hold no lock of the campaign. The rows are locked
    /// in the order of their keys.
    private var tallyStatements: [PostgresStatement] {
        let changed = tallies.inOrder().filter(\.value.isChanged)
        guard !changed.isEmpty else { return [] }
        let messages = PostgresValue.texts(changed.map(\.key))
        func numbers(_ number: (TallyRow) -> Int) -> PostgresValue { .numbers(changed.map { Int64(number($0.value)) }) }
        return [
            PostgresStatement(Self.insertTallies, [messages]), PostgresStatement(Self.lockTallies, [messages]),
            PostgresStatement(
                Self.addToTallies,
                [
                    messages, numbers(\.committed.sum), numbers(\.committed.least), numbers(\.reserved.sum),
                    numbers(\.reserved.least),
                ]),
        ]
    }

    /// Makes missing rows with zeros, so that the next statement can lock all of them.
    private static let insertTallies = """
        INSERT INTO inapp_tallies (message, committed, reserved) SELECT message, 0, 0 FROM unnest($1) AS message
        ON CONFLICT DO NOTHING
        """
    private static let lockTallies = """
        SELECT 1 FROM inapp_tallies WHERE message = ANY($1) ORDER BY message FOR UPDATE
        """
    /// The stored numbers may differ from those that the decisions read, so it adds instead of replacing them.
    private static let addToTallies = """
        UPDATE inapp_tallies t SET committed = greatest(t.committed + a.committed, a.least_committed),
            reserved = greatest(t.reserved + a.reserved, a.least_reserved)
        FROM unnest($1, $2, $3, $4, $5) AS a (message, committed, least_committed, reserved, least_reserved)
        WHERE t.message = a.message
        """
}
