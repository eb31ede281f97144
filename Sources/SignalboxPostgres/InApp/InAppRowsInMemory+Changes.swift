import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// The changes of decisions.
extension InAppRowsInMemory {
    /// Applies the changes of one decision, in their order. `nextDue`: of the devices among them. `keys`: those whose
    /// rows were read. Throws ``InAppKeysMissing`` before it changes anything when the changes concern another row.
    mutating func apply(_ changes: [RowChange], nextDue: Instant?, _ keys: InAppKeys) throws {
        let missing = missingKeys(of: changes, keys)
        guard missing.keys.isEmpty else { throw missing }
        var edits = LedgerEdits()
        for change in changes {
            switch change {
            case .user(let id, let lastNow):
                if let owner = users[id] { forget(owner, .user(id), owner.state.ledger, at: lastNow, &edits) }
                users[id]?.state.lastNow = lastNow
                users[id]?.see(at: lastNow)
                users[id]?.isChanged = true
            case .device(let device):
                if let owner = devices[device.id] {
                    forget(owner, .device(device.id), owner.state.ledger, at: device.lastNow, &edits)
                }
                put(device, nextDue: nextDue)
            case .offer(let offer): put(offer)
            case .removeOffer(let id): remove(id)
            case .display(let subject, let display): edits.change(subject) { $0.put(display) }
            case .removeDisplay(let subject, let offer): edits.change(subject) { $0.remove(offer) }
            case .total(let subject, let key, let total): edits.change(subject) { $0.put(total, of: key) }
            case .tally(let message, let committed, let reserved):
                tallies[message, default: TallyRow()].add(committed: committed, reserved: reserved)
            }
        }
        for (subject, edit) in edits.all { apply(edit, to: subject) }
    }

    /// Every column but the ledger. No effect for a device that was not read, which ``missingKeys(of:_:)`` excludes.
    private mutating func put(_ device: DeviceState, nextDue: Instant?) {
        guard var owner = devices[device.id] else { return }
        let ledger = owner.state.ledger
        owner.state = device
        owner.state.ledger = ledger
        owner.nextDue = nextDue
        owner.see(at: device.lastNow)
        owner.isChanged = true
        devices[device.id] = owner
    }

    /// An owner without a row gets one, as if it had been seen long ago, for upkeep.
    private mutating func apply(_ edit: LedgerEdit, to subject: RowChange.Subject) {
        switch subject {
        case .user(let id):
            guard var owner = users[id] else { return }
            owner.state.ledger = edit.apply(to: owner.state.ledger)
            if !owner.isStored { owner.seen = owner.seen ?? 0 }
            owner.isChanged = true
            users[id] = owner
        case .device(let id):
            guard var owner = devices[id] else { return }
            owner.state.ledger = edit.apply(to: owner.state.ledger)
            if !owner.isStored { owner.seen = owner.seen ?? 0 }
            owner.isChanged = true
            devices[id] = owner
        }
    }

    /// An owner that is seen on a new day loses the totals of messages that upkeep has removed since.
    private func forget<State>(
        _ owner: Owner<State>, _ subject: RowChange.Subject, _ ledger: Ledger, at now: Instant,
        _ edits: inout LedgerEdits
    ) {
        guard !missingMessages.isEmpty, owner.isStored, !owner.wasSeen(onDayOf: now) else { return }
        for id in ledger.messagesOfTotals where missingMessages.contains(id) {
            edits.change(subject) { $0.removeTotal(of: id) }
        }
    }

    // MARK: Keys

    /// The rows that changes concern and that were not read. A campaign that gains displays must be locked before it is
    /// read, or two nodes would exceed its limit together.
    private func missingKeys(of changes: [RowChange], _ keys: InAppKeys) -> InAppKeysMissing {
        InAppKeysMissing { missing in
            for change in changes {
                switch change {
                case .user(let id, _), .display(.user(let id), _), .removeDisplay(.user(let id), _),
                    .total(.user(let id), _, _):
                    if users[id] == nil { missing.users.insert(id) }
                case .display(.device(let id), _), .removeDisplay(.device(let id), _), .total(.device(let id), _, _):
                    if devices[id] == nil { missing.add(device: id) }
                case .device(let device): if devices[device.id] == nil { missing.add(device: device.id) }
                case .offer(let offer): if devices[offer.device] == nil { missing.add(device: offer.device) }
                case .removeOffer(let id):
                    if let device = offers[id]?.offer.device {
                        if devices[device] == nil { missing.add(device: device) }
                    } else if !keys.offers.contains(id), !removed.contains(id) {
                        missing.offers.insert(id)
                    }
                case .tally(let message, let committed, let reserved):
                    if committed + reserved > 0, !keys.tallies.contains(message) { missing.tallies.insert(message) }
                }
            }
        }
    }
}

extension Ledger {
    /// The messages with a total and without a display.
    var messagesOfTotals: [MessageID] {
        let displayed = ExactTextSet(displays.map(\.message))
        return totals.keys.compactMap { key in
            if case .message(let id) = key, !displayed.contains(id) { id } else { nil }
        }
    }
}
