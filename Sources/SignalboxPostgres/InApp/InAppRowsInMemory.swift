import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// The rows of a group of decisions, as one transaction has locked and read them. Decisions change them here, one after
/// another, so that each sees the changes of those before it; the changed rows are written once, at the end.
///
/// A value of one run of the transaction. Without SQL.
struct InAppRowsInMemory {
    /// A user or a device, with the columns that only the store reads.
    struct Owner<State> {
        var state: State
        /// The first decision of the day on which the owner was last seen; nil once upkeep has removed the displays,
        /// and without a row.
        var seen: Instant?
        /// When the timer must advance a device; nil for never, and for users.
        var nextDue: Instant?
        /// Whether it has a row. A changed owner without one is inserted.
        var isStored: Bool
        var isChanged = false

        /// Whether an instant is on the day on which the owner was last seen.
        func wasSeen(onDayOf now: Instant) -> Bool {
            seen.map { $0 / InAppUpkeepStep.day == now / InAppUpkeepStep.day } ?? false
        }

        /// Records a decision about the owner at a time.
        mutating func see(at now: Instant) { if !wasSeen(onDayOf: now) { seen = now } }
    }

    /// An offer of a device whose offers are all here, or a lease of a user on another device.
    struct OfferRow {
        var offer: Offer
        /// Whether the id is in the table: decides between an insertion and an update.
        var isStored: Bool
        var isChanged = false
    }

    /// The counters of a campaign, and the additions of the group. A counter never falls below zero, so a sum of
    /// changes is not enough: the stored number `x` becomes `max(x + sum, least)`.
    struct TallyRow {
        /// The stored numbers; zero for a campaign without a row.
        var tally = Tally()
        var isStored = false
        private(set) var isChanged = false
        private(set) var committed = Addition()
        private(set) var reserved = Addition()

        struct Addition {
            /// The changes without a bound.
            var sum = 0
            /// The result for a counter that was zero before.
            var least = 0

            mutating func add(_ number: Int) { (sum, least) = (sum + number, max(least + number, 0)) }
        }

        /// Later decisions of the group see the new numbers. Negative numbers end displays or reservations.
        mutating func add(committed number: Int, reserved other: Int) {
            committed.add(number)
            reserved.add(other)
            tally = Tally(committed: max(tally.committed + number, 0), reserved: max(tally.reserved + other, 0))
            (isStored, isChanged) = (true, true)
        }
    }

    /// Every device of the keys, even one without a row.
    var devices = ExactTextMap<Owner<DeviceState>>()
    /// Every user of the keys, even one without a row.
    var users = ExactTextMap<Owner<UserState>>()
    /// All offers of ``devices``, and the leases of ``users`` on other devices.
    private(set) var offers = ExactTextMap<OfferRow>()
    /// The ids of all offers of each device, in any order.
    private(set) var offersOfDevice = ExactTextMap<[OfferID]>()
    /// The ids of all leases of each user. One that ended in the meantime may be among them.
    private var leases = ExactTextMap<[OfferID]>()
    /// Stored offers that are to be removed.
    private(set) var removed: ExactTextSet = []
    /// The tallies that were read, or are changed, by campaign.
    var tallies = ExactTextMap<TallyRow>()
    /// Whether any campaign has a tally.
    var hasTallies = false
    /// Active messages by their address, the newest first.
    var addressedToUser = ExactTextMap<[StoredInAppMessage]>()
    var addressedToDevice = ExactTextMap<[StoredInAppMessage]>()
    /// Messages that have totals and are not stored.
    var missingMessages: ExactTextSet = []

    // MARK: Loading

    /// Adds an offer that was read.
    mutating func load(_ offer: Offer) {
        offers[offer.id] = OfferRow(offer: offer, isStored: true)
        offersOfDevice[offer.device, default: []].append(offer.id)
        noteLease(offer)
    }

    private mutating func noteLease(_ offer: Offer) {
        guard offer.state == .offered, leases[offer.user]?.contains(offer.id) != true else { return }
        leases[offer.user, default: []].append(offer.id)
    }

    // MARK: Rows of a decision

    /// The rows of a decision. Throws ``InAppKeysMissing`` for rows that were not read.
    func rows(of decision: InAppDecision) throws -> InAppRows {
        switch decision.subject {
        case .device(let device, let user):
            return try rows(of: device, user ?? AnonymousUser.id(on: device), decision.tallies)
        case .due(let device):
            let user = try known(device).state.user ?? AnonymousUser.id(on: device)
            return try rows(of: device, user, decision.tallies)
        case .offer(let id):
            guard let offer = offers[id]?.offer else {
                var rows = InAppRows(state: InAppState(user: UserState(id: ""), device: DeviceState(id: "")))
                rows.isUnknownOffer = true
                return rows
            }
            return try rows(of: offer.device, offer.user, decision.tallies)
        }
    }

    /// Leases on other devices are limited to ``Bounds/leasesElsewhere``, and ended ones are left out.
    private func rows(of id: DeviceID, _ userID: UserID, _ campaigns: [MessageID]) throws -> InAppRows {
        let (device, user) = (try known(id).state, try known(user: userID).state)
        let own = (offersOfDevice[id] ?? []).compactMap { offers[$0]?.offer }
        let elsewhere = (leases[userID] ?? []).lazy.compactMap { offers[$0]?.offer }
            .filter { $0.state == .offered && $0.user.hasBytes(of: userID) && !$0.device.hasBytes(of: id) }
        let anonymous = AnonymousUser.id(on: id)
        // No check reads the tally of an ended offer.
        let live = own.lazy.filter { !$0.state.isEnded }
        let messages = ExactTextSet(campaigns).union(live.flatMap { [$0.message] + $0.runnersUp })
        let state = InAppState(
            user: user, device: device, offers: own + elsewhere.prefix(Bounds.leasesElsewhere),
            anonymous: device.user == anonymous && userID != anonymous ? try known(user: anonymous).state.ledger : nil,
            tallies: tallies(of: messages))
        return InAppRows(state: state, addressed: (addressedToUser[userID] ?? []) + (addressedToDevice[id] ?? []))
    }

    /// Only those with a row, or with a change of the group.
    private func tallies(of messages: ExactTextSet) -> [MessageID: Tally] {
        guard !tallies.isEmpty else { return [:] }
        var found: [MessageID: Tally] = [:]
        for message in messages { if let row = tallies[message], row.isStored { found[message] = row.tally } }
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
        noteLease(offer)
        guard let former = offers[offer.id] else {
            offers[offer.id] = OfferRow(offer: offer, isStored: false, isChanged: true)
            offersOfDevice[offer.device, default: []].append(offer.id)
            return
        }
        offers[offer.id] = OfferRow(offer: offer, isStored: former.isStored, isChanged: true)
    }

    /// No effect for an unknown offer.
    mutating func remove(_ id: OfferID) {
        guard let row = offers.removeValue(forKey: id) else { return }
        offersOfDevice[row.offer.device]?.removeAll { $0 == id }
        if row.isStored { removed.insert(id) }
    }
}

/// A decision concerns rows that its transaction has not read. The transaction wrote nothing; the group is run again
/// with them.
struct InAppKeysMissing: Error {
    var keys = InAppKeys()

    init(_ add: (inout InAppKeys) -> Void) { add(&keys) }
}
