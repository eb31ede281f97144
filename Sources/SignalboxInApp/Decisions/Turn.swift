/// One step in progress: the rows as they change, the changes to write and the events to record. It reads neither a
/// clock nor a random number, so equal input gives an equal decision.
struct Turn {
    let policy: Policy
    let messages: ActiveMessages
    let explains: Bool
    let now: Instant
    var state: InAppState
    var answer = Answer()
    /// Whether a control group took this turn.
    var isHeld = false
    private(set) var records: [Record] = []
    private var changedOffers: Set<OfferID> = []
    private var ledgerChanges: [RowChange] = []
    private var tallyChanges: [MessageID: Tally] = [:]
    private var changesUser = false
    private let ticket: String
    private var ticketsUsed = 0
    /// The offer on the screen of this device, or leased for it.
    private(set) var holder: Offer?
    /// Offers whose lease runs, of the user or the device. Each holds a place in its limits until it is reported or
    /// the lease ends.
    private(set) var reserved: [Offer] = []
    /// The offers of this device that have not ended.
    private var active: [OfferID] = []

    /// Time never runs backwards for a user or a device: a clock that was set back reopens no limit.
    init(
        _ policy: Policy, _ messages: ActiveMessages, _ state: consuming InAppState, now: Instant,
        ticket: String = "", explains: Bool = false
    ) {
        self.policy = policy
        self.messages = messages
        self.now = max(now, state.user.lastNow, state.device.lastNow)
        self.ticket = ticket
        self.explains = explains
        self.state = state
        for offer in self.state.offers.values where !offer.state.isEnded { track(offer, isNew: true) }
    }

    /// The first offer of a turn has the ticket as its id, the others a number behind it.
    mutating func nextOfferID() -> OfferID {
        ticketsUsed += 1
        return ticketsUsed == 1 ? ticket : "\(ticket)-\(ticketsUsed)"
    }

    mutating func record(
        _ kind: Record.Kind, _ offer: Offer?, _ detail: String? = nil, flags: [String] = [],
        trigger: TriggerEvent? = nil
    ) {
        let names = flags + (offer?.flags.names ?? []).filter { !flags.contains($0) }
        records.append(Record(kind: kind, at: now, offer: offer, detail: detail, flags: names, trigger: trigger))
    }

    mutating func put(_ offer: Offer) {
        state.offers[offer.id] = offer
        changedOffers.insert(offer.id)
        changesUser = true
        track(offer)
    }

    /// Records the messages that the client may get instead of the offer of this turn.
    mutating func name(_ runnersUp: [MessageID], behind id: OfferID) {
        state.offers[id]?.runnersUp = runnersUp
        answer.offer?.runnersUp = runnersUp
    }

    /// Removes an offer that has ended.
    mutating func remove(_ id: OfferID) {
        state.offers[id] = nil
        changedOffers.insert(id)
    }

    private mutating func track(_ offer: Offer, isNew: Bool = false) {
        if offer.device == state.device.id {
            if offer.state.isEnded {
                active.removeAll { $0 == offer.id }
            } else if isNew || !active.contains(offer.id) {
                active.append(offer.id)
            }
        }
        reserved.removeAll { $0.id == offer.id }
        let hasLease = offer.state == .offered && offer.leaseUntil.map { $0 > now } ?? false
        if hasLease && !offer.flags.contains(.uncounted) { reserved.append(offer) }
        if holder?.id == offer.id { holder = nil }
        if offer.device == state.device.id && offer.holdsScreen { holder = offer }
    }

    mutating func decision() -> Decision {
        state.device.lastNow = now
        var changes: [RowChange] = []
        if changesUser {
            state.user.lastNow = now
            changes.append(.user(state.user.id, lastNow: now))
        }
        var device = state.device
        device.ledger = Ledger()
        changes.append(.device(device))
        for id in changedOffers.sorted() { changes.append(state.offers[id].map(RowChange.offer) ?? .removeOffer(id)) }
        changes += ledgerChanges
        for (message, tally) in tallyChanges.sorted(by: { $0.key < $1.key }) where tally != Tally() {
            changes.append(.tally(message, committed: tally.committed, reserved: tally.reserved))
        }
        answer.nextCheck = nextCheck
        return Decision(
            answer: answer, changes: changes, records: records, state: state, now: now, nextDue: nextDue)
    }
}

extension Turn {
    /// The answer to a repeat: no row changes.
    func unchanged(from state: InAppState) -> Decision {
        Decision(answer: answer, changes: [], records: [], state: state, now: now, nextDue: nextDue)
    }
}

// MARK: Offers of this device

extension Turn {
    /// Those that have not ended, in the order in which they came to the stack.
    var activeOffers: [Offer] {
        active.compactMap { state.offers[$0] }.sorted { ($0.order, $0.id) < ($1.order, $1.id) }
    }

    /// Those that have ended, the oldest first.
    var endedOffers: [Offer] {
        state.offers.values.filter { $0.device == state.device.id && $0.state.isEnded }
            .sorted { ($0.endedAt ?? 0, $0.id) < ($1.endedAt ?? 0, $1.id) }
    }

    /// The offers of this device that have not ended, by message, without inlines.
    var liveOffers: [MessageID: Offer] {
        if active.isEmpty { return [:] }
        let live = active.compactMap { state.offers[$0] }.filter(\.needsScreen)
        return Dictionary(live.map { ($0.message, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private var nextCheck: Instant? {
        earliest { offer in
            switch offer.state {
            case .triggered: offer.due
            case .waiting, .ready: offer.until.flatMap { $0 > now ? $0 : nil }
            default: nil
            }
        }
    }

    private var nextDue: Instant? {
        earliest { offer in
            switch offer.state {
            case .triggered, .waiting, .ready:
                let end = messages[offer.message]?.message.schedule.end
                let due = offer.state == .triggered ? offer.due : nil
                return [due, offer.lapse, end.map { max($0, now) + 1 }].compactMap { $0 }.min()
            case .offered: return offer.leaseUntil
            case .shown: return state.device.lastSeen + policy.silence
            default: return nil
            }
        }
    }

    /// The earliest of these times of the device's offers.
    private func earliest(_ time: (Offer) -> Instant?) -> Instant? {
        var earliest: Instant?
        for id in active {
            if let offer = state.offers[id], let time = time(offer) { earliest = min(earliest ?? time, time) }
        }
        return earliest
    }
}

// MARK: Reservations and commits

extension Turn {
    /// Leases the offer to the client and reserves its limits.
    mutating func give(_ offer: Offer, detail: String? = nil) {
        var offer = offer
        offer.state = .offered
        offer.leaseUntil = now + policy.lease
        offer.until = nil
        offer.reason = nil
        // A report without an id is about the present lease.
        offer.reports.removeAll { $0.hasPrefix("#") }
        offer.session = state.device.session
        if let definition = messages[offer.message] {
            offer.revision = definition.message.revision
            offer.namedLimits = definition.message.namedLimits
            if definition.hasCampaignLimit && !offer.flags.contains(.uncounted) {
                offer.flags.insert(.tallied)
                change(offer.message, reserved: 1)
            }
        }
        put(offer)
        record(.offered, offer, detail)
        answer.offer = offer
    }

    /// Gives the reservation of an offer back.
    mutating func release(_ offer: inout Offer) {
        if offer.flags.remove(.tallied) != nil { change(offer.message, reserved: -1) }
        offer.leaseUntil = nil
    }

    /// Counts an impression in every limit, once for each offer.
    mutating func commit(_ offer: inout Offer) {
        let hadReservation = offer.flags.remove(.tallied) != nil
        if hadReservation { change(offer.message, reserved: -1) }
        guard !offer.flags.contains(.uncounted) else { return }
        if hadReservation || messages[offer.message]?.hasCampaignLimit == true { change(offer.message, committed: 1) }
        let display = Ledger.Display(
            offer: offer.id, at: now, message: offer.message, vendor: offer.vendor, device: offer.device,
            session: offer.session, namedLimits: offer.namedLimits, isExempt: offer.flags.contains(.exempt))
        add(display, to: \.user.ledger, .user(state.user.id))
        add(display, to: \.device.ledger, .device(state.device.id))
        changesUser = true
    }

    private mutating func change(_ message: MessageID, committed: Int = 0, reserved: Int = 0) {
        state.tallies[message, default: Tally()].committed += committed
        state.tallies[message, default: Tally()].reserved += reserved
        tallyChanges[message, default: Tally()].committed += committed
        tallyChanges[message, default: Tally()].reserved += reserved
    }

    private mutating func add(
        _ display: Ledger.Display, to path: WritableKeyPath<InAppState, Ledger>, _ subject: RowChange.Subject
    ) {
        state[keyPath: path].add(display)
        ledgerChanges.append(.display(subject, display))
        for key in Ledger.keys(of: display) {
            if let total = state[keyPath: path].totals[key] { ledgerChanges.append(.total(subject, key, total)) }
        }
        let pruned = state[keyPath: path].prune(before: now - policy.history)
        ledgerChanges += pruned.removed.map { .removeDisplay(subject, $0) }
        ledgerChanges += pruned.changed.map { .display(subject, $0) }
    }

    /// Adds the anonymous user's ledger to the known user's.
    mutating func merge(_ anonymous: Ledger) {
        let added = state.user.ledger.merge(anonymous)
        let subject = RowChange.Subject.user(state.user.id)
        ledgerChanges += added.displays.map { .display(subject, $0) }
        for key in added.totals {
            if let total = state.user.ledger.totals[key] { ledgerChanges.append(.total(subject, key, total)) }
        }
        changesUser = true
    }
}
