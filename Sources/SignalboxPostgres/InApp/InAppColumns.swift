import SignalboxInApp
import SignalboxStore

// The rows of the in-app tables as values. Each type lists its columns once, and reads them in that order.

/// A row of `inapp_users`.
struct InAppUserRow {
    /// With its ledger.
    var user: UserState
    /// The column `seen`.
    var seen: Instant?

    /// `ledger` has the encoding of ``LedgerFields``; the times are milliseconds since 1970.
    static let columns = "id, last_now, seen, ledger"

    init(_ row: PostgresRow) throws {
        let id = try row.text(0)
        user = UserState(id: id)
        user.lastNow = try row.number(1)
        seen = try row.optionalNumber(2)
        user.ledger = try row.bytes(3).withUnsafeBytes { try LedgerFields.read($0, of: id) }
    }
}

/// A row of `inapp_devices`.
struct InAppDeviceRow {
    /// With its ledger.
    var device: DeviceState
    /// When the timer must advance the device; nil for never.
    var nextDue: Instant?
    /// The column `seen`.
    var seen: Instant?

    /// `node` is not among them, because a decision writes and never reads it.
    static let columns = """
        id, user_id, last_now, last_seen, session, last_end, last_walkthrough, last_order, last_decision, next_due, \
        seen, state, ledger
        """

    init(_ row: PostgresRow) throws {
        let id = try row.text(0)
        device = DeviceState(id: id)
        device.user = try row.optionalText(1)
        device.lastNow = try row.number(2)
        device.lastSeen = try row.number(3)
        device.session = try row.count(4)
        device.lastEnd = try row.optionalNumber(5)
        device.lastWalkthrough = try row.optionalText(6)
        device.lastOrder = try row.count(7)
        device.lastDecision = try row.number(8)
        nextDue = try row.optionalNumber(9)
        seen = try row.optionalNumber(10)
        try row.bytes(11).withUnsafeBytes { try DeviceFields.read($0, into: &device) }
        device.ledger = try row.bytes(12).withUnsafeBytes { try LedgerFields.read($0, of: id) }
    }
}

/// A row of `inapp_offers`.
extension Offer {
    /// 26 columns; `place` is ``Offer/order``, and `lists` is NULL if ``Offer/lists`` is nil.
    static let columns = """
        id, device, user_id, message, revision, vendor, kind, state, triggered_at, due, lapse, flags, session, place, \
        until, lease_until, unanswered, shown_at, ended_at, reason, clicks, slot, product, sku, page, lists
        """

    /// Throws ``DamagedValue`` for a column of another type, and for a word that is not one of its enumeration.
    init(_ row: PostgresRow) throws {
        self.init(
            id: try row.text(0), device: try row.text(1), user: try row.text(2), message: try row.text(3),
            revision: try row.count(4), vendor: try row.text(5), kind: try row.word(6), state: try row.word(7),
            triggeredAt: try row.number(8), due: try row.number(9), lapse: try row.optionalNumber(10),
            flags: Flags(rawValue: try row.count(11)), namedLimits: [], session: try row.count(12))
        order = try row.count(13)
        until = try row.optionalNumber(14)
        leaseUntil = try row.optionalNumber(15)
        unanswered = try row.count(16)
        shownAt = try row.optionalNumber(17)
        endedAt = try row.optionalNumber(18)
        reason = try row.optionalText(19)
        clicks = try row.count(20)
        let (product, sku) = (try row.optionalText(22), try row.optionalText(23))
        slot = try row.optionalText(21).map { SlotLabel($0, productID: product, sku: sku) }
        page = try row.optionalText(24)
        try row.optionalBytes(25)?.withUnsafeBytes { try readLists($0) }
    }
}

/// A row of `inapp_messages`. The body is the message's JSON form as it was registered.
extension StoredInAppMessage {
    static let columns = "id, revision, registered_at, withdrawn_at, ends_at, user_id, device_id, body"

    /// `first`: the column of the id. A row with both addresses counts as one of the user; no gateway writes one.
    init(_ row: PostgresRow, from first: Int = 0) throws {
        let user = try row.optionalText(first + 5).map(InAppRegistration.Address.user)
        let device = try row.optionalText(first + 6).map(InAppRegistration.Address.device)
        self.init(
            InAppRegistration(
                id: try row.text(first), body: try row.bytes(first + 7), address: user ?? device,
                end: try row.optionalNumber(first + 4)),
            revision: try row.count(first + 1), registeredAt: try row.number(first + 2),
            withdrawnAt: try row.optionalNumber(first + 3))
    }
}
