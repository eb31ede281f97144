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
    /// Adds to the row of a message. Never below zero: a row that upkeep removed has lost its reservations.
    static let addition = """
        INSERT INTO inapp_tallies (message, committed, reserved) VALUES (?, max(?, 0), max(?, 0))
        ON CONFLICT (message) DO UPDATE SET
            committed = max(committed + ?, 0), reserved = max(reserved + ?, 0)
        """
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

    /// The columns of the device itself, in the order in which ``bind(_:ledger:offers:_:)`` binds them.
    private static let own = DeviceState.columns(user: "user")
    /// In the order of ``init(_:id:from:)``; `upsert` writes all of them, and the statement that touches a device all
    /// but the last two.
    private static let all = own + ["ledger", "offers", "next_due", "seen"]
    /// As a list for statements.
    static let columns = all.joined(separator: ", ")
    /// Inserts a device, or replaces it. A null ledger does not change the stored one.
    static let upsert = """
        INSERT INTO inapp_devices (\(columns), id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET \(assignments)
        """
    /// Each column with the value of the row that could not be inserted.
    private static let assignments = all.map { column in
        column == "ledger" ? "ledger = coalesce(excluded.ledger, ledger)" : "\(column) = excluded.\(column)"
    }.joined(separator: ", ")
    /// Replaces the columns of a device that are in no index.
    static let update = """
        UPDATE inapp_devices SET \(own.map { "\($0) = ?" }.joined(separator: ", ")), \
        ledger = coalesce(?, ledger), offers = ?
        """

    /// Reads ``columns`` from `first` on. Throws ``DamagedValue`` for a column of another type and for lists that
    /// cannot be read.
    init(_ row: RowColumns, id: DeviceID, from first: Int) throws {
        device = try DeviceState(id: id, row, from: first)
        let first = first + Self.own.count
        if let ledger = try row.withBytes(first, { try LedgerFields.read($0, of: id) }) {
            (device.ledger, hasLedger) = (ledger, true)
        }
        offers = try OfferNumbers(row, first + 1)
        nextDue = try row.optionalNumber(first + 2)
        seen = try row.optionalNumber(first + 3)
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
