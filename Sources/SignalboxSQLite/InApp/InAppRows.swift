import SignalboxInApp
import SignalboxStore

// The rows of the in-app tables as values. Each type lists its columns once, and reads and binds them in that order.

/// The key of a total, as two columns.
extension Ledger.Key {
    /// Reads the columns `what` and `name`. Throws ``DamagedValue`` for a kind that this version does not know.
    init(_ row: inout RowColumns) throws {
        let what = try row.number()
        guard let key = Self(what: what, name: try row.text()) else {
            throw DamagedValue("column what does not hold a known kind of total")
        }
        self = key
    }
}

/// Count and time of the last display of a total.
extension Ledger.Total {
    /// The columns after those of its key.
    init(_ row: inout RowColumns) throws { self.init(count: try row.count(), last: try row.number()) }
}

/// A row of `inapp_displays`: a display whose owner's row has no ledger.
extension Ledger.Display {
    /// In the order of ``init(_:owner:)``, without the key's columns `kind` and `owner`.
    static let columns = "offer, at, message, vendor, device, session, exempt, count, limits"

    /// `owner`: the owner of the ledger.
    /// Throws ``DamagedValue``. A NULL device is the owner.
    init(_ row: inout RowColumns, owner: String) throws {
        self.init(
            offer: try row.text(), at: try row.number(), message: try row.text(), vendor: try row.text(),
            device: try row.optionalText() ?? owner, session: try row.count())
        isExempt = try row.flag()
        count = try row.count()
        namedLimits = try row.withBytes { try FieldContent($0).texts() } ?? []
    }
}

/// A row of `inapp_tallies`: the displays of one campaign to all users. Decisions about different users share it,
/// and each adds to it, so that the order of their commits does not matter.
extension Tally {
    /// Adds to the row of a message. Never below zero: a row that upkeep removed has lost its reservations.
    static let addition = """
        INSERT INTO inapp_tallies (message, committed, reserved) VALUES (?, max(?, 0), max(?, 0))
        ON CONFLICT (message) DO UPDATE SET
            committed = max(committed + ?, 0), reserved = max(reserved + ?, 0)
        """

    /// Throws ``DamagedValue`` for a negative number.
    init(_ row: inout RowColumns) throws { self.init(committed: try row.count(), reserved: try row.count()) }
}

/// A device's row, with the columns that only the store reads.
struct DeviceRow {
    /// With its ledger, unless ``hasLedger`` is false.
    var device: DeviceState
    /// False if displays and totals are rows of their own.
    var hasLedger = false
    /// The column `offers`.
    var offers = OfferNumbers()
    /// When the timer must advance the device; nil for never.
    var nextDue: Instant?
    /// The column `seen`.
    var seen: Int64?

    /// In the order of ``init(_:id:)``; `upsert` writes all of them, and the statement that touches a device all but
    /// the last two.
    static let columns = """
        user, last_now, last_seen, session, last_end, last_walkthrough, last_order, last_decision, state, ledger, \
        offers, next_due, seen
        """
    /// Inserts a device, or replaces it. A null ledger does not change the stored one.
    static let upsert = """
        INSERT INTO inapp_devices (\(columns), id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET \(assignments)
        """
    /// Each column with the value of the row that could not be inserted.
    private static let assignments = columns.split(separator: ", ").map { column in
        column == "ledger" ? "ledger = coalesce(excluded.ledger, ledger)" : "\(column) = excluded.\(column)"
    }.joined(separator: ", ")

    /// Throws ``DamagedValue`` for a column of another type and for lists that cannot be read.
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
        if let ledger = try row.withBytes({ try LedgerFields.read($0, of: id) }) {
            (device.ledger, hasLedger) = (ledger, true)
        }
        offers = try OfferNumbers(&row)
        nextDue = try row.optionalNumber()
        seen = try row.optionalNumber()
    }

    /// The columns except the last two. `ledger`: nil for an unchanged one.
    static func bind(
        _ device: DeviceState, ledger: [UInt8]?, offers: OfferNumbers, _ row: inout RowStatement.Arguments
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
        row.bind(offers.text)
    }
}

/// A row of `inapp_messages`. The body is the message's JSON form as it was registered.
extension StoredInAppMessage {
    /// In the order of ``init(_:)`` and ``bind(_:)``.
    static let columns = "id, revision, registered_at, withdrawn_at, ends_at, user, device, body"

    /// Throws ``DamagedValue`` for a column of another type. A row with both addresses counts as one of the user; no
    /// gateway writes one.
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
