import SignalboxInApp

/// In-app rows in memory: a model of the store's tables.
struct InAppModel {
    var users: [UserID: Instant] = [:]
    var devices: [DeviceID: DeviceState] = [:]
    var offers: [OfferID: Offer] = [:]
    var displays: [RowChange.Subject: [OfferID: Ledger.Display]] = [:]
    var totals: [RowChange.Subject: [Ledger.Key: Ledger.Total]] = [:]
    var tallies: [MessageID: Tally] = [:]

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

    /// The rows of a decision, with the tallies of all messages.
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

    private func ledger(_ subject: RowChange.Subject) -> Ledger {
        Ledger(displays: Array((displays[subject] ?? [:]).values), totals: totals[subject] ?? [:])
    }
}
