import GRDB
import SignalboxInApp
import SignalboxStore

/// The rows of one decision, with the values that only the store compares.
struct LoadedInApp {
    var rows: InAppRows
    /// The stored columns of the device; nil without a row.
    var nextDue: Instant?
    var deviceSeen: Int64?
    /// The stored column of the user; nil without a row.
    var userSeen: Int64?
}

/// Reads the rows of a decision. Lives for one transaction or read; every row that it reads belongs to one device, one
/// user or one message.
struct InAppReader {
    let db: Database
    var statements = InAppStatements()

    init(_ db: Database) { self.db = db }

    /// Throws ``DamagedValue`` for rows that cannot be read.
    mutating func load(_ subject: InAppSubject, tallies: [MessageID]) throws -> LoadedInApp {
        switch subject {
        case .device(let device, let user):
            return try load(device, user: user ?? AnonymousUser.id(on: device), tallies)
        case .due(let device): return try load(device, user: nil, tallies)
        case .offer(let offer):
            if let (device, user) = try owner(of: offer) { return try load(device, user: user, tallies) }
            var rows = InAppRows(state: InAppState(user: UserState(id: ""), device: DeviceState(id: "")))
            rows.isUnknownOffer = true
            return LoadedInApp(rows: rows)
        }
    }

    private mutating func owner(of offer: OfferID) throws -> (device: DeviceID, user: UserID)? {
        var owner: (DeviceID, UserID)?
        try statements(.offerOwner, in: db).forEach({ $0.bind(offer) }) { owner = (try $0.text(), try $0.text()) }
        return owner
    }

    /// `user`: nil for the user of the device's last request.
    private mutating func load(_ id: DeviceID, user: UserID?, _ tallies: [MessageID]) throws -> LoadedInApp {
        let row = try device(id)
        let formerUser = row?.device.user
        let userID = user ?? formerUser ?? AnonymousUser.id(on: id)
        var device = row?.device ?? DeviceState(id: id)
        device.ledger = try ledger(of: .device(id))
        let (person, seen) = try self.user(userID)
        let offers = try offers(of: id) + offers(leasedTo: userID, exceptOn: id)
        let anonymous = AnonymousUser.id(on: id)
        // No check reads the tally of an ended offer.
        let live = offers.lazy.filter { $0.device == id && !$0.state.isEnded }
        let messages = Set(tallies).union(live.flatMap { [$0.message] + $0.runnersUp })
        let state = InAppState(
            user: person, device: device, offers: offers,
            anonymous: formerUser == anonymous && userID != anonymous ? try ledger(of: .user(anonymous)) : nil,
            tallies: try self.tallies(of: messages))
        return LoadedInApp(
            rows: InAppRows(state: state, addressed: try addressed(to: userID, .toUser) + addressed(to: id, .toDevice)),
            nextDue: row?.nextDue, deviceSeen: row?.seen, userSeen: seen)
    }

    private mutating func device(_ id: DeviceID) throws -> DeviceRow? {
        var found: DeviceRow?
        try statements(.device, in: db).forEach({ $0.bind(id) }) { found = try DeviceRow(&$0, id: id) }
        return found
    }

    private mutating func user(_ id: UserID) throws -> (UserState, seen: Int64?) {
        var (user, seen): (UserState, Int64?) = (UserState(id: id), nil)
        try statements(.user, in: db).forEach({ $0.bind(id) }) { row in
            user.lastNow = try row.number()
            seen = try row.optionalNumber()
        }
        user.ledger = try ledger(of: .user(id))
        return (user, seen)
    }

    private mutating func ledger(of subject: RowChange.Subject) throws -> Ledger {
        let (kind, owner) = subject.key
        func bind(_ row: inout RowStatement.Arguments) {
            row.bind(kind)
            row.bind(owner)
        }
        var displays: [Ledger.Display] = []
        try statements(.displays, in: db).forEach(bind) { displays.append(try Ledger.Display(&$0, owner: owner)) }
        var totals: [Ledger.Key: Ledger.Total] = [:]
        try statements(.totals, in: db).forEach(bind) { totals[try Ledger.Key(&$0)] = try Ledger.Total(&$0) }
        return Ledger(displays: displays, totals: totals)
    }

    private mutating func offers(of device: DeviceID) throws -> [Offer] {
        var offers: [Offer] = []
        try statements(.offers, in: db).forEach({ $0.bind(device) }) { offers.append(try Offer(&$0)) }
        return offers
    }

    private mutating func offers(leasedTo user: UserID, exceptOn device: DeviceID) throws -> [Offer] {
        var offers: [Offer] = []
        try statements(.leasedElsewhere, in: db).forEach({ row in
            row.bind(user)
            row.bind(device)
        }) { offers.append(try Offer(&$0)) }
        return offers
    }

    private mutating func tallies(of messages: Set<MessageID>) throws -> [MessageID: Tally] {
        var tallies: [MessageID: Tally] = [:]
        for message in messages {
            try statements(.tally, in: db).forEach({ $0.bind(message) }) { tallies[message] = try Tally(&$0) }
        }
        return tallies
    }

    private mutating func addressed(to address: String, _ statement: InAppStatement) throws -> [StoredInAppMessage] {
        var messages: [StoredInAppMessage] = []
        try statements(statement, in: db).forEach({ $0.bind(address) }) { messages.append(try StoredInAppMessage(&$0)) }
        return messages
    }

    /// Nil if the id is unknown.
    mutating func message(_ id: MessageID) throws -> StoredInAppMessage? {
        var found: StoredInAppMessage?
        try statements(.message, in: db).forEach({ $0.bind(id) }) { found = try StoredInAppMessage(&$0) }
        return found
    }
}
