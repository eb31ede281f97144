package import SignalboxInApp

/// The rows of users, devices and offers, in memory.
package struct MemoryRows: Equatable {
    package var users: [UserID: Instant] = [:]
    package var devices: [DeviceID: DeviceState] = [:]
    package var offers: [OfferID: Offer] = [:]
    package var displays: [RowChange.Subject: [OfferID: Ledger.Display]] = [:]
    package var totals: [RowChange.Subject: [Ledger.Key: Ledger.Total]] = [:]
    package var tallies: [MessageID: Tally] = [:]

    package init() {}

    package mutating func apply(_ changes: [RowChange]) {
        for change in changes {
            switch change {
            case .user(let id, let lastNow): users[id] = lastNow
            case .device(let device): devices[device.id] = device
            case .offer(let offer): offers[offer.id] = offer
            case .removeOffer(let id): offers[id] = nil
            case .display(let subject, let display): displays[subject, default: [:]][display.offer] = display
            case .removeDisplay(let subject, let id): displays[subject]?[id] = nil
            case .total(let subject, let key, let total): totals[subject, default: [:]][key] = total
            case .tally(let message, let committed, let reserved):
                tallies[message, default: Tally()].committed += committed
                tallies[message, default: Tally()].reserved += reserved
            }
        }
    }

    package func ledger(_ subject: RowChange.Subject) -> Ledger {
        Ledger(displays: Array((displays[subject] ?? [:]).values), totals: totals[subject] ?? [:])
    }

    package func load(device id: DeviceID, user: UserID) -> InAppState {
        var person = UserState(id: user)
        person.lastNow = users[user] ?? 0
        person.ledger = ledger(.user(user))
        var device = devices[id] ?? DeviceState(id: id)
        device.ledger = ledger(.device(id))
        let leased = offers.values.filter { $0.device != id && $0.user == user && $0.state == .offered }
        let own = offers.values.filter { $0.device == id } + leased.prefix(Bounds.leasesElsewhere)
        let anonymous = AnonymousUser.id(on: id)
        return InAppState(
            user: person, device: device, offers: own,
            anonymous: device.user == anonymous && user != anonymous ? ledger(.user(anonymous)) : nil, tallies: tallies)
    }
}
