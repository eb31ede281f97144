import GRDB
import SignalboxInApp
import SignalboxStore

/// The rows of one decision, with the values that only the store compares.
/// Values of one moment: the transaction that read them.
struct LoadedInApp {
    /// The columns of a user or a device that only the store reads.
    struct Owner {
        /// SQLite's number of the row. Valid in the transaction that read it.
        let row: Int64
        /// The column `seen`: the first decision of the day on which the owner was last seen, in milliseconds since
        /// 1970. Nil once upkeep has removed the displays.
        let seen: Int64?

        /// Whether an instant is on the day on which the owner was last seen.
        func wasSeen(onDayOf now: Instant) -> Bool {
            seen.map { $0 / InAppRemoval.day == now / InAppRemoval.day } ?? false
        }

        /// False if displays and totals are rows of their own.
        let hasLedger: Bool
    }

    /// For the step of the decision.
    var rows: InAppRows
    /// Nil without a row.
    var device: Owner?
    /// Nil without a row.
    var user: Owner?
    /// The stored column of the device; nil without a row.
    var nextDue: Instant?
    /// The offers of the device.
    var offers: OfferList

    /// The ledger of the user or the device of the decision; nil for another subject.
    func ledger(of subject: RowChange.Subject) -> Ledger? {
        switch subject {
        case .user(let id): id == rows.state.user.id ? rows.state.user.ledger : nil
        case .device(let id): id == rows.state.device.id ? rows.state.device.ledger : nil
        }
    }

    /// The row of the subject; nil without one, and for another subject.
    func owner(_ subject: RowChange.Subject) -> Owner? {
        switch subject {
        case .user(let id): id == rows.state.user.id ? user : nil
        case .device(let id): id == rows.state.device.id ? device : nil
        }
    }
}

/// Reads the rows of a decision. Lives for one transaction or read; every row that it reads belongs to one device, one
/// user or one message.
/// A decision reads the same number of rows among a thousand and a million users. The writer reads with it inside a
/// commit group, so it sees the changes of earlier decisions of the group; explanations read with it in a read
/// transaction.
struct InAppReader {
    /// The connection of the writer, or of a read.
    let db: Database
    /// Prepared once for all decisions of the group.
    var statements = InAppStatements()
    /// Whether any message is addressed to a user or a device. Nil until it is read, and after a message has changed.
    var hasAddressed: Bool?
    /// Whether any campaign has a tally. Nil until it is read.
    var hasTally: Bool?

    /// `db`: a connection inside a transaction.
    init(_ db: Database) { self.db = db }

    /// Throws ``DamagedValue`` for rows that cannot be read.
    /// `tallies`: campaigns whose tallies are read besides those of the device's offers. An unknown device or user
    /// has empty rows. An unknown offer sets ``InAppRows/isUnknownOffer``. Writes nothing.
    mutating func load(_ subject: InAppSubject, tallies: [MessageID]) throws -> LoadedInApp {
        switch subject {
        case .device(let device, let user):
            return try load(device, user: user ?? AnonymousUser.id(on: device), tallies)
        case .due(let device): return try load(device, user: nil, tallies)
        case .offer(let id):
            if let (number, offer) = try offer(of: id) {
                return try load(offer.device, user: offer.user, tallies, known: (number, offer))
            }
            var rows = InAppRows(state: InAppState(user: UserState(id: ""), device: DeviceState(id: "")))
            rows.isUnknownOffer = true
            return LoadedInApp(rows: rows, offers: OfferList(numbers: OfferNumbers()))
        }
    }

    /// `user`: nil for the user of the device's last request. `known`: an offer of the device that was read already.
    private mutating func load(
        _ id: DeviceID, user: UserID?, _ tallies: [MessageID], known: (number: Int64, offer: Offer)? = nil
    ) throws -> LoadedInApp {
        let found = try device(id)
        let row = found?.row
        var list = OfferList(numbers: row?.offers ?? OfferNumbers(), isComplete: true)
        let own = try offers(of: id, &list, known)
        let formerUser = row?.device.user
        let userID = user ?? formerUser ?? AnonymousUser.id(on: id)
        let (person, userRow) = try self.user(userID)
        let anonymous = AnonymousUser.id(on: id)
        let leased = try offers(leasedTo: userID, exceptOn: id)
        // No check reads the tally of an ended offer.
        let live = own.lazy.filter { !$0.state.isEnded }
        let messages = Set(tallies).union(live.flatMap { [$0.message] + $0.runnersUp })
        let state = InAppState(
            user: person, device: row?.device ?? DeviceState(id: id), offers: own + leased,
            anonymous: formerUser == anonymous && userID != anonymous ? try self.user(anonymous).0.ledger : nil,
            tallies: try self.tallies(of: messages))
        return LoadedInApp(
            rows: InAppRows(state: state, addressed: try addressed(toUser: userID, device: id)),
            device: found.map { LoadedInApp.Owner(row: $0.number, seen: $0.row.seen, hasLedger: $0.row.hasLedger) },
            user: userRow, nextDue: row?.nextDue, offers: list)
    }

    // MARK: Users and devices

    /// With its ledger, and with SQLite's number of the row. Nil without a row.
    private mutating func device(_ id: DeviceID) throws -> (number: Int64, row: DeviceRow)? {
        var found = try statements(.device, in: db).only({ $0.bind(id) }) { row in
            (number: try row.number(0), row: try DeviceRow(row, id: id, from: 1))
        }
        if found?.row.hasLedger == false { found?.row.device.ledger = try rows(of: .device(id)) }
        return found
    }

    /// With its ledger. The owner is nil without a row.
    private mutating func user(_ id: UserID) throws -> (UserState, LoadedInApp.Owner?) {
        var (user, ledger, owner): (UserState, Ledger?, LoadedInApp.Owner?) = (UserState(id: id), nil, nil)
        try statements(.user, in: db).forEach({ $0.bind(id) }) { row in
            let number = try row.number(0)
            user.lastNow = try row.number(1)
            let seen = try row.optionalNumber(2)
            ledger = try row.withBytes(3) { try LedgerFields.read($0, of: id) }
            owner = LoadedInApp.Owner(row: number, seen: seen, hasLedger: ledger != nil)
        }
        if let ledger { user.ledger = ledger } else if owner != nil { user.ledger = try rows(of: .user(id)) }
        return (user, owner)
    }

    /// The ledger of a user or a device. Empty without a row.
    mutating func ledger(of subject: RowChange.Subject) throws -> Ledger {
        switch subject {
        case .user(let id): try user(id).0.ledger
        case .device(let id): try device(id)?.row.device.ledger ?? Ledger()
        }
    }

    /// Displays and totals that are rows of their own.
    private mutating func rows(of subject: RowChange.Subject) throws -> Ledger {
        let (kind, owner) = subject.key
        func bind(_ row: inout RowStatement.Arguments) {
            row.bind(kind)
            row.bind(owner)
        }
        let displays = try statements(.displays, in: db).all(bind) { try Ledger.Display($0, owner: owner) }
        var totals: [Ledger.Key: Ledger.Total] = [:]
        try statements(.totals, in: db).forEach(bind) { row in
            let (key, total) = try Ledger.total(row)
            totals[key] = total
        }
        return Ledger(displays: displays, totals: totals)
    }

    // MARK: Offers and messages

    /// All kept offers of the device, ended or not, in the order in which they were made. Throws ``DamagedValue`` for
    /// a number without an offer of the device, and if `known` is not in the list.
    private mutating func offers(
        of device: DeviceID, _ list: inout OfferList, _ known: (number: Int64, offer: Offer)?
    ) throws -> [Offer] {
        var offers: [Offer] = []
        var isListed = known == nil
        for number in list.numbers.all {
            var found: Offer?
            if let known, known.number == number {
                (found, isListed) = (known.offer, true)
            } else {
                found = try statements(.offer, in: db).only({ $0.bind(number) }) { try Offer($0) }
            }
            guard let found, found.device == device else { throw Self.lostOffer }
            offers.append(found)
            list.known[found.id] = number
        }
        guard isListed else { throw Self.lostOffer }
        return offers
    }

    /// The list of a device and the offers do not agree.
    static let lostOffer = DamagedValue("the offers of a device are not those of its row")

    /// The offer with its number; nil for an unknown one.
    mutating func offer(of id: OfferID) throws -> (number: Int64, offer: Offer)? {
        try statements(.offerOfID, in: db).only({ $0.bind(id) }) { row in
            (number: try row.number(0), offer: try Offer(row, from: 1))
        }
    }

    /// The column `offers` of a device; empty without a row.
    mutating func offerNumbers(of device: DeviceID) throws -> OfferNumbers {
        try statements(.offersOfDevice, in: db).only({ $0.bind(device) }) { try OfferNumbers($0, 0) } ?? OfferNumbers()
    }

    /// Offers on the user's other devices whose lease was not reported yet. They hold a place in the user's limits.
    private mutating func offers(leasedTo user: UserID, exceptOn device: DeviceID) throws -> [Offer] {
        try statements(.leasedElsewhere, in: db).all({ row in
            row.bind(user)
            row.bind(device)
        }) { try Offer($0) }
    }

    /// One statement for each message; a message without a row has no entry.
    private mutating func tallies(of messages: Set<MessageID>) throws -> [MessageID: Tally] {
        guard try !messages.isEmpty && hasTallies() else { return [:] }
        var tallies: [MessageID: Tally] = [:]
        for message in messages {
            try statements(.tally, in: db).forEach({ $0.bind(message) }) { tallies[message] = try Tally($0, from: 0) }
        }
        return tallies
    }

    /// Few campaigns have a cap over all users, so one statement for all decisions of a group tells.
    private mutating func hasTallies() throws -> Bool {
        if let hasTally { return hasTally }
        let found = try statements(.hasTally, in: db).hasRow()
        hasTally = found
        return found
    }

    /// Most gateways have no addressed message, so one statement for all decisions of a group tells.
    private mutating func addressed(toUser user: UserID, device: DeviceID) throws -> [StoredInAppMessage] {
        if hasAddressed == nil {
            hasAddressed = try [InAppStatement.hasMessageToUser, .hasMessageToDevice].contains { statement in
                try statements(statement, in: db).hasRow()
            }
        }
        guard hasAddressed == true else { return [] }
        return try addressed(to: user, .toUser) + addressed(to: device, .toDevice)
    }

    /// The newest first, at most ``StoreLimits/addressedMessages`` and ``StoreLimits/addressedBytes``; withdrawn ones
    /// are left out.
    private mutating func addressed(to address: String, _ statement: InAppStatement) throws -> [StoredInAppMessage] {
        var messages: [StoredInAppMessage] = []
        var bytes = 0
        try statements(statement, in: db).forEach({ $0.bind(address) }) { row in
            let message = try StoredInAppMessage(row)
            bytes += message.registration.body.count
            if bytes <= StoreLimits.addressedBytes { messages.append(message) }
        }
        return messages
    }

    /// Nil if the id is unknown.
    mutating func message(_ id: MessageID) throws -> StoredInAppMessage? {
        try statements(.message, in: db).only({ $0.bind(id) }) { try StoredInAppMessage($0) }
    }

    /// Whether a message is stored, withdrawn or not.
    mutating func hasMessage(_ id: MessageID) throws -> Bool {
        try statements(.hasMessage, in: db).hasRow { $0.bind(id) }
    }
}
