package import SignalboxInApp

/// The changes of one decision to ledgers: those of its user, of its device and, after a login, of the device's
/// anonymous user. So few that a search is faster than a dictionary.
package struct LedgerEdits {
    /// One for each subject, in the order of their first change.
    package private(set) var all: [(subject: RowChange.Subject, edit: LedgerEdit)] = []

    /// No change.
    package init() {}

    /// Begins a new edit for a subject without one.
    package mutating func change(_ subject: RowChange.Subject, _ change: (inout LedgerEdit) -> Void) {
        guard let place = all.firstIndex(where: { $0.subject == subject }) else {
            var edit = LedgerEdit()
            change(&edit)
            return all.append((subject, edit))
        }
        change(&all[place].edit)
    }
}

/// The changes of one decision to the displays and totals of a user or a device.
/// The last change of a display or of a total wins, as if the changes were applied one after another.
package struct LedgerEdit {
    /// In their order; nil for a removed display.
    private var displays: [(offer: OfferID, display: Ledger.Display?)] = []
    /// In their order; nil for a removed total.
    private var totals: [(key: Ledger.Key, total: Ledger.Total?)] = []

    /// From this number of changes on, a dictionary finds displays: a merge removes hundreds of them.
    private static let many = 8

    /// Inserts a display, or replaces that of the same offer.
    package mutating func put(_ display: Ledger.Display) { displays.append((display.offer, display)) }

    /// No effect for an unknown display.
    package mutating func remove(_ offer: OfferID) { displays.append((offer, nil)) }

    /// Inserts a total, or replaces that of the same key.
    package mutating func put(_ total: Ledger.Total, of key: Ledger.Key) { totals.append((key, total)) }

    /// Has no effect on a total that the decision counts.
    package mutating func removeTotal(of message: MessageID) {
        let key = Ledger.Key.message(message)
        if !totals.contains(where: { $0.key == key }) { totals.append((key, nil)) }
    }

    /// The ledger after the changes; its displays are sorted again.
    package func apply(to ledger: Ledger) -> Ledger {
        var all = ledger.totals
        for (key, total) in totals { all[key] = total }
        return Ledger(displays: displays(after: ledger.displays), totals: all)
    }

    private func displays(after former: [Ledger.Display]) -> [Ledger.Display] {
        guard displays.count >= Self.many else {
            return displays.reduce(into: former) { all, change in
                if all.contains(where: { $0.offer == change.offer }) { all.removeAll { $0.offer == change.offer } }
                if let display = change.display { all.append(display) }
            }
        }
        let last = Dictionary(displays.map { ($0.offer, $0.display) }, uniquingKeysWith: { $1 })
        return former.filter { last[$0.offer] == nil } + last.values.compactMap(\.self)
    }
}
