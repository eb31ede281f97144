import SignalboxInApp
import SignalboxStore

// The rows of the in-app tables as values. Each type lists its columns once, and reads and binds them in that order.

/// A row of `inapp_totals`: a total whose owner's row has no ledger.
extension Ledger {
    /// Reads the columns `what`, `name`, `count` and `last` from `first` on. Throws ``DamagedValue`` for a kind that
    /// this version does not know.
    static func total(_ row: RowColumns, from first: Int = 0) throws -> (key: Key, total: Total) {
        guard let key = Key(what: try row.number(first), name: try row.text(first + 1)) else {
            throw DamagedValue("column what does not hold a known kind of total")
        }
        return (key, Total(count: try row.count(first + 2), last: try row.number(first + 3)))
    }
}

/// A row of `inapp_displays`: a display whose owner's row has no ledger.
extension Ledger.Display {
    /// In the order of ``init(_:from:owner:)``, without the key's columns `kind` and `owner`.
    static let columns = "offer, at, message, vendor, device, session, exempt, count, limits"

    /// Reads ``columns`` from `first` on. `owner`: the owner of the ledger, which a NULL device stands for. Throws
    /// ``DamagedValue``.
    init(_ row: RowColumns, from first: Int = 0, owner: String) throws {
        self.init(
            offer: try row.text(first), at: try row.number(first + 1), message: try row.text(first + 2),
            vendor: try row.text(first + 3), device: try row.optionalText(first + 4) ?? owner,
            session: try row.count(first + 5), isExempt: try row.flag(first + 6), count: try row.count(first + 7))
        namedLimits = try row.withBytes(first + 8) { try FieldContent($0).texts() } ?? []
    }
}

/// A row of `inapp_tallies`: the displays of one campaign to all users. Decisions about different users share it,
/// and each adds to it, so that the order of their commits does not matter.
extension Tally {
    /// Adds to the row of a message. Never below zero: a row that upkeep removed has lost its reservations. Arguments:
    /// the message; the least numbers; for each counter, the sum and the least number.
    static let addition = """
        INSERT INTO inapp_tallies (message, committed, reserved) VALUES (?, ?, ?)
        ON CONFLICT (message) DO UPDATE SET
            committed = max(committed + ?, ?), reserved = max(reserved + ?, ?)
        """
}

/// A row of `inapp_users`.
enum UserRow {
    /// In the order of ``read(_:id:)``.
    static let columns = "last_now, seen, ledger, rowid"

    /// Reads ``columns``. Throws ``DamagedValue`` for a column of another type and for a ledger that cannot be read.
    static func read(_ row: RowColumns, id: UserID) throws -> InAppRowsInMemory.Owner<UserState> {
        var user = UserState(id: id)
        user.lastNow = try row.number(0)
        let ledger = try row.withBytes(2) { try LedgerFields.read($0, of: id) }
        if let ledger { user.ledger = ledger }
        return .init(
            user, .init(seen: try row.optionalNumber(1), number: try row.number(3), hasLedger: ledger != nil))
    }
}

/// A row of `inapp_devices`.
enum DeviceRow {
    /// The columns of the device itself, in the order in which ``bind(_:ledger:offers:_:)`` binds them.
    private static let own = DeviceState.columns(user: "user")
    /// Those that `upsert` writes; the statement that touches a device writes all but the last two.
    private static let written = own + ["ledger", "offers", "next_due", "seen"]
    /// In the order of ``read(_:id:)``.
    static let columns = (written + ["rowid"]).joined(separator: ", ")
    /// Inserts a device, or replaces it. A null ledger does not change the stored one.
    static let upsert = """
        INSERT INTO inapp_devices (\(written.joined(separator: ", ")), id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \(assignments)
        """
    /// Each column with the value of the row that could not be inserted.
    private static let assignments = written.map { column in
        column == "ledger" ? "ledger = coalesce(excluded.ledger, ledger)" : "\(column) = excluded.\(column)"
    }.joined(separator: ", ")
    /// Replaces the columns of a device that are in no index.
    static let update = """
        UPDATE inapp_devices SET \(own.map { "\($0) = ?" }.joined(separator: ", ")), \
        ledger = coalesce(?, ledger), offers = ?
        """

    /// Reads ``columns``. Throws ``DamagedValue`` for a column of another type and for lists that cannot be read.
    static func read(_ row: RowColumns, id: DeviceID) throws -> InAppRowsInMemory.Owner<DeviceState> {
        var device = try DeviceState(id: id, row, from: 0)
        let next = own.count
        let ledger = try row.withBytes(next) { try LedgerFields.read($0, of: id) }
        if let ledger { device.ledger = ledger }
        return .init(
            device,
            .init(
                seen: try row.optionalNumber(next + 3), nextDue: try row.optionalNumber(next + 2),
                number: try row.number(next + 4), offers: try OfferNumbers.read(row, next + 1),
                hasLedger: ledger != nil))
    }

    /// The columns except the last two. `ledger`: nil for an unchanged one. `offers`: their numbers.
    static func bind(
        _ device: DeviceState, ledger: [UInt8]?, offers: [Int64], _ row: inout RowStatement.Arguments
    ) {
        row.bind(device.user)
        row.bind(device.lastNow)
        row.bind(device.lastSeen)
        row.bind(device.session)
        row.bind(device.lastEnd)
        row.bind(device.lastWalkthrough)
        row.bind(device.lastOrder)
        row.bind(device.lastDecision)
        row.bind(DeviceFields.write(device))
        row.bind(ledger)
        row.bind(OfferNumbers.text(offers))
    }
}

/// A row of `inapp_messages`.
extension StoredInAppMessage {
    /// In the order of ``bind(_:)``.
    static let columns = columns(user: "user", device: "device")

    /// Binds every column, in their order.
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
