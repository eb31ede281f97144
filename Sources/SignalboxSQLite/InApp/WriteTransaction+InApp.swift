import SignalboxInApp
import SignalboxStore

/// In-app rows are written at once, unlike events and deliveries, which are gathered for the whole group: the next
/// decision of the group may be about the same user.
extension WriteTransaction {
    /// Runs the step over the rows as earlier writes of the group left them, and writes its changes and events.
    /// The transaction is that of the commit group: rows, events and deliveries of the decision become durable
    /// together, or not at all. Throws ``DamagedValue`` for rows that cannot be read, and the errors of SQLite; both
    /// fail the group, which is then split.
    mutating func decide(_ decision: InAppDecision) throws {
        let loaded = try inApp.load(decision.subject, tallies: decision.tallies)
        let step = decision.step(loaded.rows)
        try apply(step.changes, nextDue: step.nextDue, loaded)
        if !step.events.isEmpty { _ = try append(step.events, nil) }
    }

    /// Writes each changed row once. `nextDue`: of the device. A ledger is written with its owner's row.
    private mutating func apply(_ changes: [RowChange], nextDue: Instant?, _ loaded: LoadedInApp) throws {
        var ledgers = try ledgers(after: changes, loaded)
        // Before the row of the device, which has their numbers.
        var offers = try writeOffers(of: changes, loaded)
        for change in changes {
            switch change {
            case .user(let id, let lastNow):
                try put(user: id, lastNow: lastNow, ledger: ledgers.removeValue(forKey: .user(id)), loaded)
            case .device(let device):
                let ledger = ledgers.removeValue(forKey: .device(device.id))
                let numbers = try offers[device.id]?.numbers ?? numbers(of: device.id, loaded)
                try put(device, nextDue: nextDue, ledger: ledger, offers: numbers, loaded)
                offers[device.id]?.isWritten = true
            case .offer, .removeOffer, .display, .removeDisplay, .total: break
            case .tally(let message, let committed, let reserved):
                inApp.hasTally = nil
                // Twice: for a new row, and to be added to the present one.
                try run(.addTally) { row in
                    row.bind(message)
                    for _ in 0..<2 {
                        row.bind(committed)
                        row.bind(reserved)
                    }
                }
            }
        }
        for (subject, ledger) in ledgers { try put(ledger, of: subject) }
        for (device, list) in offers where !list.isWritten { try put(list.numbers, of: device) }
    }

    /// Runs a statement that returns no rows.
    private mutating func run(_ statement: InAppStatement, _ bind: (inout RowStatement.Arguments) -> Void) throws {
        try inApp.statements(statement, in: db).run(bind)
    }

    // MARK: Users and devices

    /// `ledger`: nil for an unchanged one. Leaves indexed columns out of the write if they keep their values: SQLite
    /// writes the index of each column that a statement names.
    private mutating func put(user id: UserID, lastNow: Instant, ledger: [UInt8]?, _ loaded: LoadedInApp) throws {
        let owner = loaded.owner(.user(id))
        if let owner, owner.wasSeen(onDayOf: lastNow) {
            return try run(.touchUser) { row in
                row.bind(lastNow)
                row.bind(ledger)
                row.bind(owner.row)
            }
        }
        try run(.putUser) { row in
            row.bind(lastNow)
            row.bind(ledger)
            row.bind(lastNow)
            row.bind(id)
        }
    }

    /// Replaces the row of a device. Leaves the index of due times alone if the due time is as before, and that of
    /// `seen` within a day.
    private mutating func put(
        _ device: DeviceState, nextDue: Instant?, ledger: [UInt8]?, offers: OfferNumbers, _ loaded: LoadedInApp
    ) throws {
        if let owner = loaded.owner(.device(device.id)), owner.wasSeen(onDayOf: device.lastNow) {
            let isDueAsBefore = loaded.nextDue == nextDue
            return try run(isDueAsBefore ? .touchDevice : .touchDueDevice) { row in
                DeviceRow.bind(device, ledger: ledger, offers: offers, &row)
                if !isDueAsBefore { row.bind(nextDue) }
                row.bind(owner.row)
            }
        }
        try run(.putDevice) { row in
            DeviceRow.bind(device, ledger: ledger, offers: offers, &row)
            row.bind(nextDue)
            row.bind(device.lastNow)
            row.bind(device.id)
        }
    }

    // MARK: Ledgers

    /// Writes a ledger whose owner's row does not change otherwise. An owner without a row gets one. The insertion sets
    /// the time at which it was last seen to 1970, so that upkeep removes it again unless it is seen.
    private mutating func put(_ ledger: [UInt8], of subject: RowChange.Subject) throws {
        let (kind, owner) = subject.key
        let statement = try inApp.statements(kind == 0 ? .putUserLedger : .putDeviceLedger, in: db)
        try statement.run { row in
            row.bind(ledger)
            row.bind(owner)
        }
        guard statement.changes == 0 else { return }
        try run(kind == 0 ? .putUser : .putDevice) { row in
            if kind == 0 {
                row.bind(0)
                row.bind(ledger)
            } else {
                DeviceRow.bind(DeviceState(id: owner), ledger: ledger, offers: OfferNumbers(), &row)
                row.bind(Instant?.none)
            }
            // Seen long ago, for upkeep.
            row.bind(0)
            row.bind(owner)
        }
    }

    /// The columns `ledger` that the changes of a decision replace.
    /// Reads a ledger only if the decision changes it and did not load it. Removes the rows that a former version
    /// kept for the same owner: from then on its ledger is in its row.
    private mutating func ledgers(
        after changes: [RowChange], _ loaded: LoadedInApp
    ) throws -> [RowChange.Subject: [UInt8]] {
        var edits = LedgerEdits()
        for change in changes {
            switch change {
            case .display(let subject, let display): edits.change(subject) { $0.put(display) }
            case .removeDisplay(let subject, let offer): edits.change(subject) { $0.remove(offer) }
            case .total(let subject, let key, let total): edits.change(subject) { $0.put(total, of: key) }
            case .user(let id, let now): try begin(.user(id), at: now, loaded, &edits)
            case .device(let device): try begin(.device(device.id), at: device.lastNow, loaded, &edits)
            case .offer, .removeOffer, .tally: break
            }
        }
        var ledgers: [RowChange.Subject: [UInt8]] = [:]
        for (subject, edit) in edits.all {
            let stored = try loaded.ledger(of: subject) ?? inApp.ledger(of: subject)
            let isNew = loaded.ledger(of: subject) != nil && loaded.owner(subject) == nil
            if !isNew, loaded.owner(subject)?.hasLedger != true { try removeRows(of: subject) }
            ledgers[subject] = LedgerFields.write(edit.apply(to: stored), of: subject.key.owner)
        }
        return ledgers
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

    /// A new owner has an empty ledger. One that is seen on a new day loses the totals of messages that upkeep has
    /// removed since.
    private mutating func begin(
        _ subject: RowChange.Subject, at now: Instant, _ loaded: LoadedInApp, _ edits: inout LedgerEdits
    ) throws {
        guard let ledger = loaded.ledger(of: subject) else { return }
        guard let owner = loaded.owner(subject) else {
            edits.change(subject) { _ in }
            return
        }
        guard owner.hasLedger, !owner.wasSeen(onDayOf: now) else { return }
        let displayed = Set(ledger.displays.map(\.message))
        for case .message(let id) in ledger.totals.keys where !displayed.contains(id) {
            if try !inApp.hasMessage(id) { edits.change(subject) { $0.removeTotal(of: id) } }
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
        if now.milliseconds - withdrawnAt >= InAppRemoval.day { try put(former.withdrawn(at: now)) }
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
