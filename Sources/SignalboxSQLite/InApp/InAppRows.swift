import SignalboxInApp
import SignalboxStore

// The rows of the in-app tables as values. Each type lists its columns once, and reads and binds them in that order.

extension RowChange.Subject {
    /// The columns `kind` and `owner`.
    var key: (kind: Int, owner: String) {
        switch self {
        case .user(let id): (0, id)
        case .device(let id): (1, id)
        }
    }
}

extension Ledger.Key {
    /// The columns `what` and `name`.
    var columns: (what: Int, name: String) {
        switch self {
        case .message(let id): (0, id)
        case .vendor(let vendor): (1, vendor)
        case .scope: (2, "")
        case .named(let name): (3, name)
        }
    }

    init(_ row: inout RowColumns) throws {
        let what = try row.number()
        let name = try row.text()
        switch what {
        case 0: self = .message(name)
        case 1: self = .vendor(name)
        case 2: self = .scope
        case 3: self = .named(name)
        default: throw DamagedValue("column what does not hold a known kind of total")
        }
    }
}

extension Ledger.Total {
    /// The columns after those of its key.
    init(_ row: inout RowColumns) throws { self.init(count: try row.count(), last: try row.number()) }
}

extension Ledger.Display {
    static let columns = "offer, at, message, vendor, device, session, exempt, count, limits"

    /// `owner`: of the ledger.
    init(_ row: inout RowColumns, owner: String) throws {
        self.init(
            offer: try row.text(), at: try row.number(), message: try row.text(), vendor: try row.text(),
            device: try row.optionalText() ?? owner, session: try row.count())
        isExempt = try row.flag()
        count = try row.count()
        namedLimits = try row.withBytes { try FieldContent($0).texts() } ?? []
    }

    func bind(_ row: inout RowStatement.Arguments, owner: String) {
        row.bind(offer)
        row.bind(at)
        row.bind(message)
        row.bind(vendor)
        row.bind(device == owner ? nil : device)
        row.bind(session)
        row.bind(isExempt ? 1 : 0)
        row.bind(count)
        row.bind(limitFields)
    }

    private var limitFields: [UInt8]? {
        guard !namedLimits.isEmpty else { return nil }
        var writer = FieldWriter()
        for name in namedLimits { writer.add(1, name) }
        return writer.bytes
    }
}

extension Tally {
    /// Adds to the row of a message. Never below zero: a row that upkeep removed has lost its reservations.
    static let addition = """
        INSERT INTO inapp_tallies (message, committed, reserved) VALUES (?, max(?, 0), max(?, 0))
        ON CONFLICT (message) DO UPDATE SET
            committed = max(committed + ?, 0), reserved = max(reserved + ?, 0)
        """

    init(_ row: inout RowColumns) throws { self.init(committed: try row.count(), reserved: try row.count()) }
}

/// A device's row, with the columns that only the store reads.
struct DeviceRow {
    var device: DeviceState
    var nextDue: Instant?
    /// The column `seen`.
    var seen: Int64?

    static let columns = """
        user, last_now, last_seen, session, last_end, last_walkthrough, last_order, last_decision, state, next_due, seen
        """
    /// Inserts a device, or replaces it.
    static let upsert = """
        INSERT INTO inapp_devices (\(columns), id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET (\(columns)) =
            (\(columns.split(separator: ", ").map { "excluded.\($0)" }.joined(separator: ", ")))
        """

    init(_ row: inout RowColumns, id: DeviceID) throws {
        device = DeviceState(id: id)
        device.user = try row.optionalText()
        device.lastNow = try row.number()
        device.lastSeen = try row.number()
        device.session = try row.count()
        device.lastEnd = try row.optionalNumber()
        device.lastWalkthrough = try row.optionalText()
        device.lastOrder = try row.count()
        device.lastDecision = try row.number()
        guard try row.withBytes({ try DeviceFields.read($0, into: &device) }) != nil else { throw FieldContent.damage }
        nextDue = try row.optionalNumber()
        seen = try row.optionalNumber()
    }

    /// The columns except the last two.
    static func bind(_ device: DeviceState, _ row: inout RowStatement.Arguments) {
        row.bind(device.user)
        row.bind(device.lastNow)
        row.bind(device.lastSeen)
        row.bind(device.session)
        row.bind(device.lastEnd)
        row.bind(device.lastWalkthrough)
        row.bind(device.lastOrder)
        row.bind(device.lastDecision)
        row.bind(DeviceFields.write(device))
    }
}

extension StoredInAppMessage {
    static let columns = "id, revision, registered_at, withdrawn_at, ends_at, user, device, body"

    init(_ row: inout RowColumns) throws {
        let id = try row.text()
        let (revision, registeredAt) = (try row.count(), try row.number())
        let (withdrawnAt, end) = (try row.optionalNumber(), try row.optionalNumber())
        let (user, device) = (try row.optionalText(), try row.optionalText())
        let address = user.map(InAppRegistration.Address.user) ?? device.map(InAppRegistration.Address.device)
        self.init(
            InAppRegistration(id: id, body: try row.bytes(), address: address, end: end), revision: revision,
            registeredAt: registeredAt, withdrawnAt: withdrawnAt)
    }

    func bind(_ row: inout RowStatement.Arguments) {
        row.bind(registration.id)
        row.bind(revision)
        row.bind(registeredAt)
        row.bind(withdrawnAt)
        row.bind(registration.end)
        row.bind(registration.address?.user)
        row.bind(registration.address?.device)
        row.bind(registration.body)
    }
}

extension InAppRegistration.Address {
    fileprivate var user: UserID? { if case .user(let id) = self { id } else { nil } }
    fileprivate var device: DeviceID? { if case .device(let id) = self { id } else { nil } }
}
