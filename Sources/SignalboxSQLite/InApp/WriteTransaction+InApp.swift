import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// In-app rows are written at once, unlike events and deliveries, which are gathered for the whole group: the next
/// decision of the group may be about the same user.
extension WriteTransaction {
    /// Runs the step over the rows as earlier writes of the group left them, and writes its changes and events.
    /// The transaction is that of the commit group: rows, events and deliveries of the decision become durable
    /// together, or not at all. Throws ``DamagedValue`` for rows that cannot be read, and the errors of SQLite; both
    /// fail the group, which is then split.
    mutating func decide(_ decision: InAppDecision) throws {
        var rows = try inApp.load(decision.subject, tallies: decision.tallies)
        let step = decision.step(try rows.rows(of: decision.subject, tallies: decision.tallies))
        if !step.changes.isEmpty {
            let missing = rows.missingKeys(of: step.changes, InAppKeys())
            if !missing.isEmpty { try inApp.load(missing, into: &rows) }
            for message in rows.oldTotals(of: step.changes) where try !inApp.hasMessage(message) {
                rows.missingMessages.insert(message)
            }
            rows.apply(step.changes, nextDue: step.nextDue)
            try write(rows)
        }
        if !step.events.isEmpty { _ = try append(step.events, nil) }
    }

    /// Writes each changed row once.
    private mutating func write(_ rows: InAppRowsInMemory) throws {
        // An offer of the same id may have been made since.
        for row in rows.removed.values { try run(.removeOffer) { $0.bind(row.number) } }
        for user in rows.users.values where user.isChanged { try put(user) }
        for device in rows.devices.values {
            let offers = try putOffers(of: device.state.id, rows)
            if device.isChanged || offers != device.stored?.offers ?? [] { try put(device, offers: offers) }
        }
        for (message, row) in rows.tallies.inOrder() where row.isChanged {
            inApp.hasTally = nil
            try run(.addTally) { arguments in
                arguments.bind(message)
                arguments.bind(row.committed.least)
                arguments.bind(row.reserved.least)
                for addition in [row.committed, row.reserved] {
                    arguments.bind(addition.sum)
                    arguments.bind(addition.least)
                }
            }
        }
    }

    /// Runs a statement that returns no rows.
    private mutating func run(_ statement: InAppStatement, _ bind: (inout RowStatement.Arguments) -> Void) throws {
        try inApp.statements(statement, in: db).run(bind)
    }

    // MARK: Users, devices and offers

    /// Leaves indexed columns out of the write if they keep their values: SQLite writes the index of each column that
    /// a statement names.
    private mutating func put(_ user: InAppRowsInMemory.Owner<UserState>) throws {
        let ledger = try changedLedger(of: user)
        if let stored = user.stored, stored.seen == user.seen {
            return try run(.touchUser) { row in
                row.bind(user.state.lastNow)
                row.bind(ledger)
                row.bind(stored.number)
            }
        }
        try run(.putUser) { row in
            row.bind(user.state.lastNow)
            row.bind(ledger)
            row.bind(user.seen)
            row.bind(user.state.id)
        }
    }

    /// Replaces the row of a device. Leaves the index of due times alone if the due time is as before, and that of
    /// `seen` within a day. A device without a decision was seen long ago, for upkeep.
    private mutating func put(_ device: InAppRowsInMemory.Owner<DeviceState>, offers: [Int64]) throws {
        let ledger = try changedLedger(of: device)
        if let stored = device.stored, stored.seen == device.seen {
            let isDueAsBefore = stored.nextDue == device.nextDue
            return try run(isDueAsBefore ? .touchDevice : .touchDueDevice) { row in
                DeviceRow.bind(device.state, ledger: ledger, offers: offers, &row)
                if !isDueAsBefore { row.bind(device.nextDue) }
                row.bind(stored.number)
            }
        }
        try run(.putDevice) { row in
            DeviceRow.bind(device.state, ledger: ledger, offers: offers, &row)
            row.bind(device.nextDue)
            row.bind(device.seen ?? 0)
            row.bind(device.state.id)
        }
    }

    /// The column `ledger`; nil for an unchanged one. Removes the rows that a former version kept for the same owner:
    /// from then on its ledger is in its row.
    private mutating func changedLedger<State>(of owner: InAppRowsInMemory.Owner<State>) throws -> [UInt8]? {
        guard owner.isLedgerChanged || owner.stored == nil else { return nil }
        if owner.stored?.hasLedger == false { try removeRows(of: owner.state.subject) }
        return LedgerFields.write(owner.state.ledger, of: owner.state.subject.key.owner)
    }

    /// Removes the displays and totals that are rows of their own.
    mutating func removeRows(of subject: RowChange.Subject) throws {
        for statement in [InAppStatement.removeDisplays, .removeTotals] {
            try run(statement) { row in
                row.bind(subject.key.kind)
                row.bind(subject.key.owner)
            }
        }
    }

    /// Writes the changed offers of a device. Returns the numbers of all of them.
    private mutating func putOffers(of device: DeviceID, _ rows: InAppRowsInMemory) throws -> [Int64] {
        try (rows.offersOfDevice[device] ?? []).compactMap { rows.offers[$0] }.map { row in
            if let number = row.number {
                guard row.isChanged else { return number }
                try run(.updateOffer) { arguments in
                    row.offer.bindState(&arguments)
                    arguments.bind(number)
                }
                return number
            }
            try run(.insertOffer) { arguments in
                row.offer.bindKey(&arguments)
                row.offer.bindState(&arguments)
            }
            return db.lastInsertedRowID
        }
    }

    // MARK: Messages

    /// Stores the message of a payload, unless the stored one was withdrawn by an operator: the vendor sends a payload
    /// to each device, and a withdrawal lasts while it does. A withdrawal that upkeep made does not: the user or the
    /// device of the message is back.
    mutating func registerFromPayload(_ message: InAppRegistration) throws {
        guard let former = try inApp.message(message.id), let withdrawnAt = former.withdrawnAt,
            !former.isWithdrawnByUpkeep
        else {
            try register(message)
            return
        }
        // Upkeep removes messages some time after their withdrawal.
        if now.milliseconds - withdrawnAt >= InAppWalk.day { try put(former.withdrawn(at: now)) }
    }

    /// Stores a message. Changes nothing if the stored one is equal and not withdrawn. The revision grows with each
    /// change, even after a withdrawal, until upkeep removes the message.
    @discardableResult
    mutating func register(_ message: InAppRegistration) throws -> StoredInAppMessage {
        let former = try inApp.message(message.id)
        if let former, former.withdrawnAt == nil, former.registration.body == message.body,
            former.registration.address == message.address
        {
            return former
        }
        let stored = StoredInAppMessage(
            message, revision: (former?.revision ?? 0) + 1, registeredAt: now.milliseconds, withdrawnAt: nil)
        try put(stored)
        return stored
    }

    /// Nil if the id is unknown. Changes nothing if the message is withdrawn already.
    /// The time of the withdrawal is that of the transaction.
    mutating func withdraw(_ id: MessageID) throws -> StoredInAppMessage? {
        guard let former = try inApp.message(id), former.withdrawnAt == nil else { return try inApp.message(id) }
        let stored = former.withdrawn(at: now)
        try put(stored)
        return stored
    }

    /// The store reports the change to its observer after the commit.
    private mutating func put(_ message: StoredInAppMessage) throws {
        try run(.putMessage) { message.bind(&$0) }
        inApp.hasAddressed = nil
        effects.messages.append(message)
    }
}
