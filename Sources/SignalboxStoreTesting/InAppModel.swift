import SignalboxInApp

/// In-app rows in memory: a model of the store's tables. Checks apply the same changes to it and to a store, and
/// compare the rows that both return.
struct InAppModel {
    /// The last time of each user, in milliseconds since 1970.
    var users: [UserID: Instant] = [:]
    /// Without their ledgers, which are in ``displays`` and ``totals``.
    var devices: [DeviceID: DeviceState] = [:]
    /// Offers in every state.
    var offers: [OfferID: Offer] = [:]
    /// By user or device, then by offer: a later display of an offer replaces the earlier one.
    var displays: [RowChange.Subject: [OfferID: Ledger.Display]] = [:]
    /// Keys without a total have never been counted.
    var totals: [RowChange.Subject: [Ledger.Key: Ledger.Total]] = [:]
    /// Displays of all devices, committed and reserved; neither falls below zero.
    var tallies: [MessageID: Tally] = [:]

    /// One change, as a commit writes it. Removing an unknown row has no effect.
    mutating func apply(_ change: RowChange) {
        switch change {
        case .user(let id, let lastNow): users[id] = lastNow
        case .device(let device): devices[device.id] = device
        case .offer(let offer): offers[offer.id] = offer
        case .removeOffer(let id): offers[id] = nil
        case .display(let subject, let display): displays[subject, default: [:]][display.offer] = display
        case .removeDisplay(let subject, let id): displays[subject]?[id] = nil
        case .total(let subject, let key, let total): totals[subject, default: [:]][key] = total
        case .tally(let message, let committed, let reserved):
            let tally = tallies[message] ?? Tally()
            tallies[message] = Tally(
                committed: max(tally.committed + committed, 0), reserved: max(tally.reserved + reserved, 0))
        }
    }

    /// The rows of a decision, with the tallies of all messages. `id`: the device. `user`: a user of its own, or an
    /// anonymous one. Rows that were never written have their defaults. Offers are those of the device, and those
    /// that the user's other devices hold.
    func state(of id: DeviceID, _ user: UserID) -> InAppState {
        var person = UserState(id: user)
        person.lastNow = users[user] ?? 0
        person.ledger = ledger(.user(user))
        var device = devices[id] ?? DeviceState(id: id)
        device.ledger = ledger(.device(id))
        let anonymous = AnonymousUser.id(on: id)
        return InAppState(
            user: person, device: device,
            offers: offers.values.filter { $0.device == id || ($0.user == user && $0.state == .offered) },
            anonymous: device.user == anonymous && user != anonymous ? ledger(.user(anonymous)) : nil,
            tallies: tallies)
    }

    /// Empty for a user or a device without displays.
    private func ledger(_ subject: RowChange.Subject) -> Ledger {
        Ledger(displays: Array((displays[subject] ?? [:]).values), totals: totals[subject] ?? [:])
    }
}
