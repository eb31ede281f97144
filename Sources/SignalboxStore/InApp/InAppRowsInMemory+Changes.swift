package import SignalboxInApp
import SignalboxNotification

/// The changes of decisions.
extension InAppRowsInMemory {
    /// Applies the changes of one decision, in their order. `nextDue`: of the devices among them. Changes of rows that
    /// ``missingKeys(of:_:)`` names have no effect.
    package mutating func apply(_ changes: [RowChange], nextDue: Instant?) {
        var edits = LedgerEdits()
        for change in changes {
            switch change {
            case .user(let id, let lastNow):
                if !missingMessages.isEmpty, let owner = users[id] { forget(owner, at: lastNow, &edits) }
                users[id]?.state.lastNow = lastNow
                users[id]?.see(at: lastNow)
            case .device(let device):
                if !missingMessages.isEmpty, let owner = devices[device.id] {
                    forget(owner, at: device.lastNow, &edits)
                }
                devices[device.id]?.put(device, nextDue: nextDue)
            case .offer(let offer): put(offer)
            case .removeOffer(let id): remove(id)
            case .display(let subject, let display): edits.change(subject) { $0.put(display) }
            case .removeDisplay(let subject, let offer): edits.change(subject) { $0.remove(offer) }
            case .total(let subject, let key, let total): edits.change(subject) { $0.put(total, of: key) }
            case .tally(let message, let committed, let reserved):
                tallies[message, default: TallyRow()].add(committed: committed, reserved: reserved)
            }
        }
        for (subject, edit) in edits.all {
            switch subject {
            case .user(let id): users[id]?.apply(edit)
            case .device(let id): devices[id]?.apply(edit)
            }
        }
    }

    /// An owner that is seen on a new day loses the totals of messages that upkeep has removed since.
    private func forget<State>(_ owner: Owner<State>, at now: Instant, _ edits: inout LedgerEdits) {
        for id in owner.oldTotals(at: now) where missingMessages.contains(id) {
            edits.change(owner.state.subject) { $0.removeTotal(of: id) }
        }
    }

    // MARK: Keys

    /// The rows that changes concern and that were not read. `keys`: those whose rows were read. A campaign that gains
    /// displays must be among them, or two nodes would exceed its limit together.
    package func missingKeys(of changes: [RowChange], _ keys: InAppKeys) -> InAppKeys {
        var missing = InAppKeys()
        for change in changes {
            switch change {
            case .user(let id, _): add(.user(id), to: &missing)
            case .device(let device): add(.device(device.id), to: &missing)
            case .display(let subject, _), .removeDisplay(let subject, _), .total(let subject, _, _):
                add(subject, to: &missing)
            case .offer(let offer): add(.device(offer.device), to: &missing)
            case .removeOffer(let id):
                if let device = offers[id]?.offer.device {
                    add(.device(device), to: &missing)
                } else if !keys.offers.contains(id), !removed.contains(id) {
                    missing.offers.insert(id)
                }
            case .tally(let message, let committed, let reserved):
                if committed + reserved > 0, !keys.tallies.contains(message) { missing.tallies.insert(message) }
            }
        }
        return missing
    }

    /// Adds an owner that was not read.
    private func add(_ subject: RowChange.Subject, to missing: inout InAppKeys) {
        switch subject {
        case .user(let id): if !users.contains(id) { missing.users.insert(id) }
        case .device(let id): if !devices.contains(id) { missing.add(device: id) }
        }
    }
}

extension InAppRowsInMemory.Owner<DeviceState> {
    /// Replaces every column but the ledger.
    fileprivate mutating func put(_ device: DeviceState, nextDue: Instant?) {
        let ledger = state.ledger
        state = device
        state.ledger = ledger
        self.nextDue = nextDue
        see(at: device.lastNow)
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
