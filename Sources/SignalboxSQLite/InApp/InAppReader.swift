import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// Reads the rows of decisions. Lives for one transaction or read; every row that it reads belongs to one device, one
/// user or one message.
/// A decision reads the same number of rows among a thousand and a million users. The writer reads with it inside a
/// commit group, so it sees the changes of earlier decisions of the group; explanations read with it in a read
/// transaction.
struct InAppReader {
    /// An offer with its number.
    private typealias Numbered = (number: Int64, offer: Offer)

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
    /// has empty rows. An unknown offer has none. Writes nothing.
    mutating func load(_ subject: InAppSubject, tallies: [MessageID]) throws -> InAppRowsInMemory {
        var rows = InAppRowsInMemory()
        let (device, user, known): (DeviceID, UserID?, Numbered?)
        switch subject {
        case .device(let id, let name): (device, user, known) = (id, name ?? AnonymousUser.id(on: id), nil)
        case .due(let id): (device, user, known) = (id, nil, nil)
        case .offer(let id):
            guard let found = try offer(of: id) else { return rows }
            (device, user, known) = (found.offer.device, found.offer.user, found)
        }
        try load(device: device, known, into: &rows)
        let (former, anonymous) = (rows.devices[device]?.state.user, AnonymousUser.id(on: device))
        let person = user ?? former ?? anonymous
        rows.users[person] = try self.user(person)
        if former == anonymous, person != anonymous { rows.users[anonymous] = try self.user(anonymous) }
        if try hasTallies() { try load(tallies: rows.liveMessages.union(tallies), into: &rows) }
        for (number, offer) in try offers(leasedTo: person, exceptOn: device) { rows.load(offer, number: number) }
        if try hasAddressedMessages() {
            try load(addressedTo: person, .toUser, into: &rows)
            try load(addressedTo: device, .toDevice, into: &rows)
        }
        return rows
    }

    /// Adds rows that a decision did not load and that its changes concern. Rows that are not stored are not added,
    /// and tallies need not be: changes add to them.
    mutating func load(_ keys: InAppKeys, into rows: inout InAppRowsInMemory) throws {
        for id in keys.users { rows.users[id] = try user(id) }
        for id in keys.devices { try load(device: id, nil, into: &rows) }
        for id in keys.offers {
            if let device = try offer(of: id)?.offer.device, !rows.devices.contains(device) {
                try load(device: device, nil, into: &rows)
            }
        }
    }

    // MARK: Users and devices

    /// Adds a device with all its kept offers, ended or not, in the order in which they were made. `known`: an offer of
    /// the device that was read already. Throws ``DamagedValue`` for a number without an offer of the device, and if
    /// `known` is not in the list.
    private mutating func load(
        device id: DeviceID, _ known: Numbered?, into rows: inout InAppRowsInMemory
    ) throws {
        let device = try device(id)
        rows.load(device)
        var isListed = known == nil
        for number in device.stored?.offers ?? [] {
            var found: Offer?
            if let known, known.number == number {
                (found, isListed) = (known.offer, true)
            } else {
                found = try statements(.offer, in: db).only({ $0.bind(number) }) { try Offer($0) }
            }
            guard let found, found.device == id else { throw Self.lostOffer }
            rows.load(found, number: number)
        }
        guard isListed else { throw Self.lostOffer }
    }

    /// The list of a device and the offers do not agree.
    static let lostOffer = DamagedValue("the offers of a device are not those of its row")

    /// With its ledger.
    private mutating func device(_ id: DeviceID) throws -> InAppRowsInMemory.Owner<DeviceState> {
        let found = try statements(.device, in: db).only({ $0.bind(id) }) { try DeviceRow.read($0, id: id) }
        return try whole(found ?? .init(DeviceState(id: id)))
    }

    /// With its ledger.
    private mutating func user(_ id: UserID) throws -> InAppRowsInMemory.Owner<UserState> {
        let found = try statements(.user, in: db).only({ $0.bind(id) }) { try UserRow.read($0, id: id) }
        return try whole(found ?? .init(UserState(id: id)))
    }

    /// Reads the displays and totals that are rows of their own.
    private mutating func whole<State>(
        _ owner: InAppRowsInMemory.Owner<State>
    ) throws -> InAppRowsInMemory.Owner<State> {
        guard owner.stored?.hasLedger == false else { return owner }
        var owner = owner
        let (kind, id) = owner.state.subject.key
        func bind(_ row: inout RowStatement.Arguments) {
            row.bind(kind)
            row.bind(id)
        }
        let displays = try statements(.displays, in: db).all(bind) { try Ledger.Display($0, owner: id) }
        var totals: [Ledger.Key: Ledger.Total] = [:]
        try statements(.totals, in: db).forEach(bind) { row in
            let (key, total) = try Ledger.total(row)
            totals[key] = total
        }
        owner.state.ledger = Ledger(displays: displays, totals: totals)
        return owner
    }

    /// The ledger of a user or a device. Empty without a row.
    mutating func ledger(of subject: RowChange.Subject) throws -> Ledger {
        switch subject {
        case .user(let id): try user(id).state.ledger
        case .device(let id): try device(id).state.ledger
        }
    }

    // MARK: Offers and messages

    /// Nil for an unknown one.
    private mutating func offer(of id: OfferID) throws -> Numbered? {
        try statements(.offerOfID, in: db).only({ $0.bind(id) }) { (try $0.number(0), try Offer($0, from: 1)) }
    }

    /// The column `offers` of a device; empty without a row.
    mutating func offerNumbers(of device: DeviceID) throws -> [Int64] {
        try statements(.offersOfDevice, in: db).only({ $0.bind(device) }) { try OfferNumbers.read($0, 0) } ?? []
    }

    /// Offers on the user's other devices whose lease was not reported yet. They hold a place in the user's limits.
    private mutating func offers(leasedTo user: UserID, exceptOn device: DeviceID) throws -> [Numbered] {
        try statements(.leasedElsewhere, in: db).all({ row in
            row.bind(user)
            row.bind(device)
        }) { (try $0.number(0), try Offer($0, from: 1)) }
    }

    /// One statement for each message; a message without a row has no entry.
    private mutating func load(tallies messages: ExactTextSet, into rows: inout InAppRowsInMemory) throws {
        for message in messages {
            try statements(.tally, in: db).forEach({ $0.bind(message) }) { row in
                rows.tallies[message] = .init(try Tally(row, from: 0))
            }
        }
    }

    /// Few campaigns have a cap over all users, so one statement for all decisions of a group tells.
    private mutating func hasTallies() throws -> Bool {
        if let hasTally { return hasTally }
        let found = try statements(.hasTally, in: db).hasRow()
        hasTally = found
        return found
    }

    /// Most gateways have no addressed message, so one statement for all decisions of a group tells.
    private mutating func hasAddressedMessages() throws -> Bool {
        if let hasAddressed { return hasAddressed }
        let found = try [InAppStatement.hasMessageToUser, .hasMessageToDevice].contains { statement in
            try statements(statement, in: db).hasRow()
        }
        hasAddressed = found
        return found
    }

    /// The newest first, at most ``StoreLimits/addressedMessages`` and ``StoreLimits/addressedBytes``; withdrawn ones
    /// are left out.
    private mutating func load(
        addressedTo address: String, _ statement: InAppStatement, into rows: inout InAppRowsInMemory
    ) throws {
        var bytes = 0
        try statements(statement, in: db).forEach({ $0.bind(address) }) { row in
            let message = try StoredInAppMessage(row)
            bytes += message.registration.body.count
            if bytes <= StoreLimits.addressedBytes { rows.load(message) }
        }
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
