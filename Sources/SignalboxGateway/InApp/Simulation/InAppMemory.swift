import SignalboxInApp

/// The rows and the messages of a simulation in memory. Loads and applies what a store does, so a decision continues
/// from the changes of the former ones.
/// A value, so a simulation can be copied. No row is removed by age: a timeline has at most
/// ``Timeline/Bounds/lines`` lines.
struct InAppMemory: Sendable {
    /// The time of each user's last decision.
    private var users: [UserID: Instant] = [:]
    /// Rows without their ledgers.
    private var devices: [DeviceID: DeviceState] = [:]
    private(set) var offers: [OfferID: Offer] = [:]
    /// Ids of kept offers, ended or not.
    private var offersOfDevice: [DeviceID: Set<OfferID>] = [:]
    /// Ids of offers whose lease runs, on all devices of a user.
    private var leasedToUser: [UserID: Set<OfferID>] = [:]
    /// Displays by owner and offer.
    private var displays: [RowChange.Subject: [OfferID: Ledger.Display]] = [:]
    /// Totals by owner.
    private var totals: [RowChange.Subject: [Ledger.Key: Ledger.Total]] = [:]
    /// Tallies of campaigns with a cap over all users.
    private var tallies: [SignalboxInApp.MessageID: Tally] = [:]
    /// Messages that are not withdrawn, active or not, with their addresses.
    private var registered: [SignalboxInApp.MessageID: (definition: Definition, address: InAppRegistration.Address?)] =
        [:]
    /// Messages for all devices.
    private var shared = MessageIndex()
    /// Messages for one user or device.
    private var addressed: [InAppRegistration.Address: MessageIndex] = [:]
    /// Addresses of active messages that have one.
    private var addresses: [SignalboxInApp.MessageID: InAppRegistration.Address] = [:]

    // MARK: Rows

    /// The changes of one decision, in their order, as a store applies them.
    mutating func apply(_ changes: [RowChange]) {
        for change in changes {
            switch change {
            case .user(let id, let lastNow): users[id] = lastNow
            case .device(let device): devices[device.id] = device
            case .offer(let offer): put(offer)
            case .removeOffer(let id): remove(id)
            case .display(let subject, let display): displays[subject, default: [:]][display.offer] = display
            case .removeDisplay(let subject, let id): displays[subject]?[id] = nil
            case .total(let subject, let key, let total): totals[subject, default: [:]][key] = total
            case .tally(let message, let committed, let reserved):
                tallies[message, default: Tally()].committed += committed
                tallies[message, default: Tally()].reserved += reserved
            }
        }
    }

    /// Replaces an earlier state of the offer.
    private mutating func put(_ offer: Offer) {
        remove(offer.id)
        offers[offer.id] = offer
        offersOfDevice[offer.device, default: []].insert(offer.id)
        if offer.state == .offered { leasedToUser[offer.user, default: []].insert(offer.id) }
    }

    /// No effect for an unknown offer.
    private mutating func remove(_ id: OfferID) {
        guard let offer = offers.removeValue(forKey: id) else { return }
        offersOfDevice[offer.device]?.remove(id)
        leasedToUser[offer.user]?.remove(id)
    }

    /// The rows of a device and a user; empty ones if they are new.
    /// The rows that ``InAppStore`` loads for a decision, with the tallies of all campaigns.
    func state(device id: DeviceID, user: UserID) -> InAppState {
        var person = UserState(id: user)
        person.lastNow = users[user] ?? 0
        person.ledger = ledger(.user(user))
        var device = devices[id] ?? DeviceState(id: id)
        device.ledger = ledger(.device(id))
        let ids = (offersOfDevice[id] ?? []).union(leasedToUser[user] ?? [])
        let anonymous = AnonymousUser.id(on: id)
        return InAppState(
            user: person, device: device, offers: ids.compactMap { offers[$0] },
            anonymous: device.user == anonymous && user != anonymous ? ledger(.user(anonymous)) : nil, tallies: tallies)
    }

    /// Empty for a new owner.
    private func ledger(_ subject: RowChange.Subject) -> Ledger {
        Ledger(displays: Array((displays[subject] ?? [:]).values), totals: totals[subject] ?? [:])
    }

    /// The user of the device's last request.
    func user(of device: DeviceID) -> UserID { devices[device]?.user ?? AnonymousUser.id(on: device) }

    // MARK: Messages

    /// Replaces an earlier revision. A message whose address changes leaves its former place.
    mutating func register(_ definition: Definition, for address: InAppRegistration.Address?) {
        let id = definition.message.id
        registered[id] = (definition, address)
        activate(definition, for: address)
    }

    /// Leaves out the messages that a policy does not permit, as a reload of the gateway does.
    mutating func follow(_ policy: Policy) {
        for id in registered.keys { deactivate(id) }
        for (definition, address) in registered.values where (try? policy.validate(definition.message)) != nil {
            activate(definition, for: address)
        }
    }

    private mutating func activate(_ definition: Definition, for address: InAppRegistration.Address?) {
        let id = definition.message.id
        if addresses[id] != address { deactivate(id) }
        addresses[id] = address
        if let address {
            addressed[address, default: MessageIndex()].register(definition)
        } else {
            shared.register(definition)
        }
    }

    /// False for an id that no registered message has.
    mutating func withdraw(_ id: SignalboxInApp.MessageID) -> Bool {
        deactivate(id)
        return registered.removeValue(forKey: id) != nil
    }

    private mutating func deactivate(_ id: SignalboxInApp.MessageID) {
        if let address = addresses.removeValue(forKey: id) {
            addressed[address]?.withdraw(id)
        } else {
            shared.withdraw(id)
        }
    }

    /// The messages without an address, and those of this device or user.
    /// A copy of the index; later registrations do not change it.
    func messages(device: DeviceID, user: UserID) -> ActiveMessages {
        var own = addressed[.device(device)] ?? MessageIndex()
        for definition in addressed[.user(user)]?.all.map({ $0 }) ?? [] { own.register(definition) }
        return ActiveMessages(shared, addressed: own)
    }
}
