import SignalboxInApp
import SignalboxNotification

/// The rows and the messages of a simulation in memory. Loads and applies what a store does, so a decision continues
/// from the changes of the former ones.
/// A value, so a simulation can be copied. No row is removed by age: a timeline has at most
/// ``Timeline/Bounds/lines`` lines.
struct InAppMemory: Sendable {
    /// A user or a device: its row, its ledger, its offers and the messages for it.
    private struct Owner<State: Sendable>: Sendable {
        /// The row without its ledger. Nil before the first decision.
        var state: State?
        var displays: [OfferID: Ledger.Display] = [:]
        var totals: [Ledger.Key: Ledger.Total] = [:]
        /// Of a device: its kept offers, ended or not. Of a user: the offers on all devices whose lease runs.
        var offers: Set<OfferID> = []
        /// Active messages with this address.
        var messages = MessageIndex()

        var ledger: Ledger { Ledger(displays: Array(displays.values), totals: totals) }

        mutating func put(_ display: Ledger.Display) { displays[display.offer] = display }
    }

    /// By id; the state is the time of the last decision. Ids are compared by their bytes, as in a store.
    private var users = ExactTextMap<Owner<Instant>>()
    private var devices = ExactTextMap<Owner<DeviceState>>()
    private(set) var offers: [OfferID: Offer] = [:]
    /// Tallies of campaigns with a cap over all users.
    private var tallies: [SignalboxInApp.MessageID: Tally] = [:]
    /// Messages that are not withdrawn, active or not, with their addresses.
    private var registered: [SignalboxInApp.MessageID: (definition: Definition, address: InAppRegistration.Address?)] =
        [:]
    /// Active messages for all devices.
    private var shared = MessageIndex()

    // MARK: Rows

    /// The changes of one decision, in their order, as a store applies them.
    mutating func apply(_ changes: [RowChange]) {
        for change in changes {
            switch change {
            case .user(let id, let lastNow): users[id, default: Owner()].state = lastNow
            case .device(let device): devices[device.id, default: Owner()].state = device
            case .offer(let offer): put(offer)
            case .removeOffer(let id): remove(id)
            case .display(.user(let id), let display): users[id, default: Owner()].put(display)
            case .display(.device(let id), let display): devices[id, default: Owner()].put(display)
            case .removeDisplay(.user(let id), let offer): users[id]?.displays[offer] = nil
            case .removeDisplay(.device(let id), let offer): devices[id]?.displays[offer] = nil
            case .total(.user(let id), let key, let total): users[id, default: Owner()].totals[key] = total
            case .total(.device(let id), let key, let total): devices[id, default: Owner()].totals[key] = total
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
        devices[offer.device, default: Owner()].offers.insert(offer.id)
        if offer.state == .offered { users[offer.user, default: Owner()].offers.insert(offer.id) }
    }

    /// No effect for an unknown offer.
    private mutating func remove(_ id: OfferID) {
        guard let offer = offers.removeValue(forKey: id) else { return }
        devices[offer.device]?.offers.remove(id)
        users[offer.user]?.offers.remove(id)
    }

    /// The rows of a device and a user; empty ones if they are new.
    /// The rows that ``InAppStore`` loads for a decision, with the tallies of all campaigns.
    func state(device id: DeviceID, user: UserID) -> InAppState {
        var person = UserState(id: user)
        person.lastNow = users[user]?.state ?? 0
        person.ledger = users[user]?.ledger ?? Ledger()
        var device = devices[id]?.state ?? DeviceState(id: id)
        device.ledger = devices[id]?.ledger ?? Ledger()
        let ids = (devices[id]?.offers ?? []).union(users[user]?.offers ?? [])
        let anonymous = AnonymousUser.id(on: id)
        let isLogin = device.user == anonymous && user != anonymous
        return InAppState(
            user: person, device: device, offers: ids.compactMap { offers[$0] },
            anonymous: isLogin ? users[anonymous]?.ledger ?? Ledger() : nil, tallies: tallies)
    }

    /// The user of the device's last request.
    func user(of device: DeviceID) -> UserID { devices[device]?.state?.user ?? AnonymousUser.id(on: device) }

    // MARK: Messages

    /// Replaces an earlier revision. A message whose address changes leaves its former place.
    mutating func register(_ definition: Definition, for address: InAppRegistration.Address?) {
        deactivate(definition.message.id)
        registered[definition.message.id] = (definition, address)
        activate(definition, for: address)
    }

    /// Leaves out the messages that a policy does not permit, as a reload of the gateway does.
    mutating func follow(_ policy: Policy) {
        for (id, (definition, address)) in registered {
            deactivate(id)
            if (try? policy.validate(definition.message)) != nil { activate(definition, for: address) }
        }
    }

    private mutating func activate(_ definition: Definition, for address: InAppRegistration.Address?) {
        switch address {
        case .user(let id): users[id, default: Owner()].messages.register(definition)
        case .device(let id): devices[id, default: Owner()].messages.register(definition)
        case nil: shared.register(definition)
        }
    }

    /// False for an id that no registered message has.
    mutating func withdraw(_ id: SignalboxInApp.MessageID) -> Bool {
        deactivate(id)
        return registered.removeValue(forKey: id) != nil
    }

    /// No effect for an unknown message, and for one that is not active.
    private mutating func deactivate(_ id: SignalboxInApp.MessageID) {
        switch registered[id]?.address {
        case .user(let user): users[user]?.messages.withdraw(id)
        case .device(let device): devices[device]?.messages.withdraw(id)
        case nil: shared.withdraw(id)
        }
    }

    /// The messages without an address, and those of this device or user.
    /// A copy of the index; later registrations do not change it.
    func messages(device: DeviceID, user: UserID) -> ActiveMessages {
        var own = devices[device]?.messages ?? MessageIndex()
        for definition in users[user]?.messages.all.map({ $0 }) ?? [] { own.register(definition) }
        return ActiveMessages(shared, addressed: own)
    }
}
