/// One step in progress: the rows as they change, the changes to write and the events to record. It reads neither a
/// clock nor a random number, so equal input gives an equal decision.
struct Turn: ~Copyable {
    /// Rules across vendors.
    let policy: Policy
    /// The messages of this decision.
    let messages: ActiveMessages
    /// Whether the answer lists every candidate with its checks.
    let explains: Bool
    /// The time of the whole step.
    let now: Instant
    /// The rows with the changes so far.
    var state: InAppState
    /// For the client.
    var answer = Answer()
    /// Whether the event is a click on the message that this device shows, or showed last.
    var isFollowUp = false
    /// Whether a control group took this turn.
    var isHeld = false
    /// The displays that the limits of the policy count, by index of the limit; empty if the rows have changed since.
    var policyUsages: [Usage?] = []
    /// The offers that have not ended: those of this device, and the user's leased ones on other devices.
    private(set) var live: [Offer] = []
    /// How many of them wait on this device, by state.
    private(set) var pendingCounts: [Offer.State: Int] = [:]
    /// Whether the user may have leases on other devices that were not read.
    private(set) var hasUnreadLeases = false
    /// The earliest end of the other offers.
    private(set) var earliestEnd: Instant?
    private var records: [Record] = []
    private var changedOffers: [OfferID] = []
    private var ledgerChanges: [RowChange] = []
    private var tallyChanges: [MessageID: Tally] = [:]
    /// Whether the decision writes the user's row.
    var changesUser = false
    private let ticket: String
    private var ticketsUsed = 0

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
        for offer in self.state.offers.values { track(offer) }
        guard live.count >= Bounds.leasesElsewhere else { return }
        hasUnreadLeases = live.count { !isOwn($0) } >= Bounds.leasesElsewhere
    }

    /// The first offer of a turn has the ticket as its id, the others a number after it.
    mutating func nextOfferID() -> OfferID {
        ticketsUsed += 1
        return ticketsUsed == 1 ? ticket : "\(ticket)-\(ticketsUsed)"
    }

    /// Records an event for the routes. Flags of the offer are added to `flags`, each name once.
    mutating func record(
        _ kind: Record.Kind, _ offer: consuming Offer?, _ detail: String? = nil, flags: [String] = [],
        trigger: TriggerEvent? = nil
    ) {
        // An earlier version stores offers without it.
        if offer?.campaign == nil, let id = offer?.message, let message = messages[id]?.message,
            message.campaign != nil, message.revision == offer?.revision
        {
            offer?.campaign = message.campaign
        }
        var flags = flags
        for name in offer?.flags.names ?? [] where !flags.contains(name) { flags.append(name) }
        records.append(Record(kind: kind, at: now, offer: offer, detail: detail, flags: flags, trigger: trigger))
    }

    /// Whether any offer has another state than in the rows.
    var changesOffers: Bool { !changedOffers.isEmpty }

    /// Inserts or replaces an offer in the rows.
    mutating func put(_ offer: Offer) {
        if !changedOffers.contains(offer.id) { changedOffers.append(offer.id) }
        // Upkeep keeps addressed messages of users that it sees.
        if !messages.addressed.isEmpty { changesUser = true }
        policyUsages = []
        if let place = live.firstIndex(where: { $0.id == offer.id }) {
            let former = live.remove(at: place)
            count(former, by: -1)
        }
        track(offer)
        state.offers[offer.id] = offer
    }

    /// Files an offer by whether it has ended.
    private mutating func track(_ offer: borrowing Offer) {
        if offer.state.isEnded {
            let end = offer.endedAt ?? now
            earliestEnd = min(earliestEnd ?? end, end)
        } else {
            live.append(copy offer)
            count(offer, by: 1)
        }
    }

    /// Keeps ``pendingCounts``.
    private mutating func count(_ offer: borrowing Offer, by change: Int) {
        guard offer.state.isPending, isOwn(offer) else { return }
        pendingCounts[offer.state, default: 0] += change
    }

    /// Records the messages that the client may get instead of the offer of this turn.
    mutating func name(_ runnersUp: [MessageID], behind id: OfferID) {
        guard let place = live.firstIndex(where: { $0.id == id }) else { return }
        live[place].runnersUp = runnersUp
        state.offers[id] = live[place]
        answer.offer = live[place]
    }

    /// Removes an offer that has ended.
    mutating func remove(_ id: OfferID) {
        state.offers[id] = nil
        if !changedOffers.contains(id) { changedOffers.append(id) }
    }

    /// The result of the step.
    consuming func decision() -> Decision {
        state.device.lastNow = now
        var changes: [RowChange] = []
        changes.reserveCapacity(2 + changedOffers.count + ledgerChanges.count + tallyChanges.count)
        if changesUser {
            state.user.lastNow = now
            changes.append(.user(state.user.id, lastNow: now))
        }
        var device = state.device
        device.ledger = Ledger()
        changes.append(.device(device))
        if changedOffers.count > 1 { changedOffers.sort() }
        for id in changedOffers {
            if let offer = state.offers[id] { changes.append(.offer(offer)) } else { changes.append(.removeOffer(id)) }
        }
        changes += ledgerChanges
        if !tallyChanges.isEmpty { appendTallies(to: &changes) }
        let next = nextTimes()
        answer.nextCheck = [answer.nextCheck, next.check, checkAfterHold].compactMap { $0 }.min()
        return Decision(answer: answer, changes: changes, records: records, state: state, now: now, nextDue: next.due)
    }

    /// When the client asks for the messages behind one that was held back: no report of its end brings the next one.
    private var checkAfterHold: Instant? {
        isHeld && pendingCounts[.waiting] ?? 0 > 0 ? now + policy.interval : nil
    }

    /// Changes of campaigns, ordered by message, so that equal decisions have equal changes.
    private mutating func appendTallies(to changes: inout [RowChange]) {
        for (message, tally) in tallyChanges.sorted(by: { $0.key < $1.key }) where tally != Tally() {
            changes.append(.tally(message, committed: tally.committed, reserved: tally.reserved))
        }
    }

    /// The answer to a repeat: no row changes. The client may have missed the first answer, so it learns again when
    /// to ask.
    consuming func unchanged(from state: consuming InAppState) -> Decision {
        let next = nextTimes()
        answer.nextCheck = [answer.nextCheck, next.check].compactMap { $0 }.min()
        return Decision(answer: answer, changes: [], records: [], state: state, now: now, nextDue: next.due)
    }

    /// Puts an offer of a former answer into the answer to its repeat, if the client may still show it. After its
    /// lease, the client asks again at once.
    mutating func repeatAnswer(_ id: OfferID?) {
        answer.isRepeat = true
        guard let offer = id.flatMap({ state.offers[$0] }) else { return }
        if offer.state == .offered && offer.leaseUntil ?? 0 > now {
            answer.offer = offer
        } else if offer.state == .offered || (offer.state.isPending && holder() == nil) {
            answer.nextCheck = now
        }
    }
}

// MARK: Reservations and commits

extension Turn {
    /// Leases the offer to the client and reserves its limits.
    mutating func give(_ offer: consuming Offer, _ definition: Definition, detail: String? = nil) {
        offer.state = .offered
        offer.leaseUntil = now + policy.lease
        offer.until = nil
        offer.reason = nil
        // A report without an id is about the present lease.
        if !offer.reports.isEmpty { offer.reports.removeAll { $0.key.hasPrefix("#") } }
        offer.session = state.device.session
        offer.revision = definition.message.revision
        offer.campaign = definition.message.campaign
        offer.namedLimits = definition.message.namedLimits
        if definition.hasCampaignLimit && !offer.flags.contains(.uncounted) {
            offer.flags.insert(.tallied)
            change(offer.message, reserved: 1)
        }
        put(offer)
        record(.offered, copy offer, detail)
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
        // Even without a limit for everyone: a limit that is added later counts these displays. An addressed message
        // needs a tally for its present limits only.
        let addressed = messages.addressed[offer.message]
        if hadReservation || addressed?.hasCampaignLimit ?? true { change(offer.message, committed: 1) }
        let display = Ledger.Display(
            offer: offer.id, at: now, message: offer.message, vendor: offer.vendor, device: offer.device,
            session: offer.session, namedLimits: offer.namedLimits, isExempt: offer.flags.contains(.exempt))
        add(display, to: \.user.ledger, .user(state.user.id))
        add(display, to: \.device.ledger, .device(state.device.id))
        changesUser = true
    }

    /// Adds to a campaign's tally, in the rows and in the changes.
    private mutating func change(_ message: MessageID, committed: Int = 0, reserved: Int = 0) {
        state.tallies[message, default: Tally()].committed += committed
        state.tallies[message, default: Tally()].reserved += reserved
        tallyChanges[message, default: Tally()].committed += committed
        tallyChanges[message, default: Tally()].reserved += reserved
    }

    /// Adds a display to a ledger, with its totals, and removes what is older than the policy's history.
    private mutating func add(
        _ display: Ledger.Display, to path: WritableKeyPath<InAppState, Ledger>, _ subject: RowChange.Subject
    ) {
        policyUsages = []
        state[keyPath: path].add(display)
        ledgerChanges.append(.display(subject, display))
        for key in Ledger.keys(of: display) {
            if let total = state[keyPath: path].totals[key] { ledgerChanges.append(.total(subject, key, total)) }
        }
        prune(path, subject)
    }

    /// Removes the displays of a ledger that are older than the policy's history, and merges those beyond its bound.
    mutating func prune(_ path: WritableKeyPath<InAppState, Ledger>, _ subject: RowChange.Subject) {
        let pruned = state[keyPath: path].prune(before: now - policy.history)
        if !pruned.removed.isEmpty { policyUsages = [] }
        ledgerChanges += pruned.removed.map { .removeDisplay(subject, $0) }
        ledgerChanges += pruned.changed.map { .display(subject, $0) }
    }

    /// Moves the displays of an anonymous user to the known one. Both keep their totals: those of the anonymous user
    /// tell at the next login what is new.
    mutating func merge(_ anonymous: Ledger, of former: UserID) {
        policyUsages = []
        let added = state.user.ledger.merge(anonymous)
        let subject = RowChange.Subject.user(state.user.id)
        ledgerChanges += added.displays.map { .display(subject, $0) }
        for key in added.totals {
            if let total = state.user.ledger.totals[key] { ledgerChanges.append(.total(subject, key, total)) }
        }
        ledgerChanges += anonymous.displays.map { .removeDisplay(.user(former), $0.offer) }
        changesUser = true
    }
}
