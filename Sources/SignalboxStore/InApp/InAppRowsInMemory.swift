package import SignalboxInApp
package import SignalboxNotification

/// The rows of decisions, as one transaction has locked and read them. Decisions change them here, one after another,
/// so that each sees the changes of those before it; the store writes the changed rows at the end.
///
/// A value of one run of the transaction. Without SQL.
package struct InAppRowsInMemory {
    /// A user or a device, with the columns that only the store reads.
    package struct Owner<State: InAppOwner> {
        /// With its ledger.
        package var state: State
        /// The first decision of the day on which the owner was last seen, in milliseconds since 1970; nil once upkeep
        /// has removed the displays, and without a row.
        package internal(set) var seen: Instant?
        /// When the timer must advance a device; nil for never, and for users.
        package internal(set) var nextDue: Instant?
        /// The row as it was read; nil without one. A changed owner without a row is inserted.
        package let stored: Stored?
        /// Whether any column changed.
        package internal(set) var isChanged = false
        /// Whether the column of the ledger changed.
        package private(set) var isLedgerChanged = false

        /// An owner without a row.
        package init(_ state: State) { (self.state, stored) = (state, nil) }

        /// An owner as its row has it.
        package init(_ state: State, _ stored: Stored) {
            (self.state, self.stored) = (state, stored)
            (seen, nextDue) = (stored.seen, stored.nextDue)
        }

        /// Whether an instant is on the day on which the owner was last seen.
        func wasSeen(onDayOf now: Instant) -> Bool {
            seen.map { $0 / InAppWalk.day == now / InAppWalk.day } ?? false
        }

        /// The messages with totals and without displays, if the owner is seen on a new day.
        func oldTotals(at now: Instant) -> [MessageID] {
            stored != nil && !wasSeen(onDayOf: now) ? state.ledger.messagesOfTotals : []
        }

        /// Records a decision about the owner at a time.
        mutating func see(at now: Instant) {
            if !wasSeen(onDayOf: now) { seen = now }
            isChanged = true
        }

        /// An owner without a row gets one, as if it had been seen long ago, for upkeep.
        mutating func apply(_ edit: LedgerEdit) {
            state.ledger = edit.apply(to: state.ledger)
            if stored == nil { seen = seen ?? 0 }
            (isChanged, isLedgerChanged) = (true, true)
        }
    }

    /// Columns that only the store reads.
    package struct Stored {
        package var seen: Instant?
        package var nextDue: Instant?
        /// The number of the row, in a store that finds rows by their numbers.
        package var number: Int64
        /// The numbers of the device's offers, in a store that lists them in its row.
        package var offers: [Int64]
        /// False if displays and totals are rows of their own.
        package var hasLedger: Bool

        package init(
            seen: Instant?, nextDue: Instant? = nil, number: Int64 = 0, offers: [Int64] = [], hasLedger: Bool = true
        ) {
            (self.seen, self.nextDue, self.number) = (seen, nextDue, number)
            (self.offers, self.hasLedger) = (offers, hasLedger)
        }
    }

    /// An offer of a device whose offers are all here, or a lease of a user on another device.
    package struct OfferRow {
        package var offer: Offer
        /// The number of the row, 0 in a store that does not number offers. Nil for an offer that is not in the table:
        /// decides between an insertion and an update.
        package var number: Int64?
        package internal(set) var isChanged = false
    }

    /// The counters of a campaign, and the additions of the group. A counter never falls below zero, so a sum of
    /// changes is not enough: the stored number `x` becomes `max(x + sum, least)`.
    package struct TallyRow {
        /// The stored numbers; zero for a campaign without a row.
        package private(set) var tally = Tally()
        package private(set) var isStored = false
        package private(set) var isChanged = false
        package private(set) var committed = Addition()
        package private(set) var reserved = Addition()

        package struct Addition {
            /// The changes without a bound.
            package private(set) var sum = 0
            /// The result for a counter that was zero before.
            package private(set) var least = 0

            mutating func add(_ number: Int) { (sum, least) = (sum + number, max(least + number, 0)) }
        }

        /// A campaign without a row.
        package init() {}

        package init(_ tally: Tally) { (self.tally, isStored) = (tally, true) }

        /// Later decisions of the group see the new numbers. Negative numbers end displays or reservations.
        package mutating func add(committed number: Int, reserved other: Int) {
            committed.add(number)
            reserved.add(other)
            tally = Tally(committed: max(tally.committed + number, 0), reserved: max(tally.reserved + other, 0))
            (isStored, isChanged) = (true, true)
        }
    }

    /// Every device that was read, even one without a row.
    package internal(set) var devices = ExactTextMap<Owner<DeviceState>>()
    /// Every user that was read, even one without a row.
    package var users = ExactTextMap<Owner<UserState>>()
    /// All offers of ``devices``, and the leases of ``users`` on other devices.
    package private(set) var offers = ExactTextMap<OfferRow>()
    /// The ids of all offers of each device, in the order in which they were read and made.
    package private(set) var offersOfDevice = ExactTextMap<[OfferID]>()
    /// The ids of all leases of each user. One that ended in the meantime may be among them.
    private var leases = ExactTextMap<[OfferID]>()
    /// Stored offers that are to be removed.
    package private(set) var removed = ExactTextMap<OfferRow>()
    /// The tallies that were read, or are changed, by campaign.
    package var tallies = ExactTextMap<TallyRow>()
    /// Active messages by their address, the newest first.
    private var addressedToUser = ExactTextMap<[StoredInAppMessage]>()
    private var addressedToDevice = ExactTextMap<[StoredInAppMessage]>()
    /// Messages that have totals and are not stored.
    package var missingMessages: ExactTextSet = []

    /// No row.
    package init() {}

    // MARK: Loading

    /// Adds a device that was read. Its offers follow, also those that were added as leases before.
    package mutating func load(_ device: Owner<DeviceState>) {
        devices[device.state.id] = device
        offersOfDevice[device.state.id] = nil
    }

    /// Adds an offer that was read.
    package mutating func load(_ offer: Offer, number: Int64 = 0) {
        offers[offer.id] = OfferRow(offer: offer, number: number)
        offersOfDevice[offer.device, default: []].append(offer.id)
        recordLease(offer)
    }

    /// Adds a message that was read, after the newer ones of its address. No effect for a message without one.
    package mutating func load(_ message: StoredInAppMessage) {
        switch message.registration.address {
        case .user(let id)?: addressedToUser[id, default: []].append(message)
        case .device(let id)?: addressedToDevice[id, default: []].append(message)
        case nil: break
        }
    }

    private mutating func recordLease(_ offer: Offer) {
        guard offer.state == .offered, leases[offer.user]?.contains(offer.id) != true else { return }
        leases[offer.user, default: []].append(offer.id)
    }

    /// The messages whose tallies the offers need. No check reads the tally of an ended offer.
    package var liveMessages: ExactTextSet {
        var messages: ExactTextSet = []
        for row in offers.values where !row.offer.state.isEnded {
            messages.insert(row.offer.message)
            messages.formUnion(row.offer.runnersUp)
        }
        return messages
    }

    /// Messages with totals of owners that are seen on a new day: those that are no longer stored are forgotten.
    package func oldTotals(at now: Instant) -> ExactTextSet {
        ExactTextSet(devices.values.flatMap { $0.oldTotals(at: now) } + users.values.flatMap { $0.oldTotals(at: now) })
    }

    /// The same for the owners that a decision records as seen: it need not look for the messages of the others.
    package func oldTotals(of changes: [RowChange]) -> ExactTextSet {
        ExactTextSet(
            changes.flatMap { change -> [MessageID] in
                switch change {
                case .user(let id, let lastNow): users[id]?.oldTotals(at: lastNow) ?? []
                case .device(let device): devices[device.id]?.oldTotals(at: device.lastNow) ?? []
                default: []
                }
            })
    }

    // MARK: Rows of a decision

    /// The rows of a decision. Throws ``InAppKeysMissing`` for rows that were not read.
    package func rows(of subject: InAppSubject, tallies campaigns: [MessageID]) throws -> InAppRows {
        switch subject {
        case .device(let device, let user):
            return try rows(of: device, user ?? AnonymousUser.id(on: device), campaigns)
        case .due(let device):
            return try rows(of: device, try known(device).state.user ?? AnonymousUser.id(on: device), campaigns)
        case .offer(let id):
            guard let offer = offers[id]?.offer else {
                var rows = InAppRows(state: InAppState(user: UserState(id: ""), device: DeviceState(id: "")))
                rows.isUnknownOffer = true
                return rows
            }
            return try rows(of: offer.device, offer.user, campaigns)
        }
    }

    /// Leases on other devices are limited to ``Bounds/leasesElsewhere``, and ended ones are left out.
    private func rows(of id: DeviceID, _ userID: UserID, _ campaigns: [MessageID]) throws -> InAppRows {
        let (device, user) = (try known(id).state, try known(user: userID).state)
        let own = (offersOfDevice[id] ?? []).compactMap { offers[$0]?.offer }
        let elsewhere = (leases[userID] ?? []).lazy.compactMap { offers[$0]?.offer }
            .filter { $0.state == .offered && $0.user.hasBytes(of: userID) && !$0.device.hasBytes(of: id) }
        let anonymous = AnonymousUser.id(on: id)
        let state = InAppState(
            user: user, device: device, offers: own + elsewhere.prefix(Bounds.leasesElsewhere),
            anonymous: device.user == anonymous && userID != anonymous ? try known(user: anonymous).state.ledger : nil,
            tallies: tallies(of: own, campaigns))
        return InAppRows(state: state, addressed: (addressedToUser[userID] ?? []) + (addressedToDevice[id] ?? []))
    }

    /// Only those with a row, or with a change of the group. No check reads the tally of an ended offer.
    private func tallies(of offers: [Offer], _ campaigns: [MessageID]) -> [MessageID: Tally] {
        guard !tallies.isEmpty else { return [:] }
        let live = offers.lazy.filter { !$0.state.isEnded }
        var found: [MessageID: Tally] = [:]
        for message in ExactTextSet(campaigns).union(live.flatMap { [$0.message] + $0.runnersUp }) {
            if let row = tallies[message], row.isStored { found[message] = row.tally }
        }
        return found
    }

    /// Throws ``InAppKeysMissing`` for a device that was not read.
    private func known(_ id: DeviceID) throws -> Owner<DeviceState> {
        guard let device = devices[id] else { throw InAppKeysMissing { $0.add(device: id) } }
        return device
    }

    private func known(user id: UserID) throws -> Owner<UserState> {
        guard let user = users[id] else { throw InAppKeysMissing { _ = $0.users.insert(id) } }
        return user
    }

    // MARK: Offers

    /// Inserts an offer, or replaces that of the same id, which never moves to another device.
    mutating func put(_ offer: Offer) {
        recordLease(offer)
        let former = offers[offer.id]
        if former == nil { offersOfDevice[offer.device, default: []].append(offer.id) }
        offers[offer.id] = OfferRow(offer: offer, number: former?.number, isChanged: true)
    }

    /// No effect for an unknown offer.
    mutating func remove(_ id: OfferID) {
        guard let row = offers.removeValue(forKey: id) else { return }
        offersOfDevice[row.offer.device]?.removeAll { $0 == id }
        if row.number != nil { removed[id] = row }
    }
}
