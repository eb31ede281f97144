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
    static let columns = (["id"] + DeviceState.columns(user: "user_id") + ["next_due", "seen", "ledger"])
        .joined(separator: ", ")

    init(_ row: PostgresRow) throws {
        let id = try row.text(0)
        device = try DeviceState(id: id, row, from: 1)
        nextDue = try row.optionalNumber(10)
        seen = try row.optionalNumber(11)
        device.ledger = try row.bytes(12).withUnsafeBytes { try LedgerFields.read($0, of: id) }
    }
}

/// A row of `inapp_offers`.
extension Offer {
    /// 26 columns.
    static let columns = columns(user: "user_id").joined(separator: ", ")
}

/// A row of `inapp_messages`.
extension StoredInAppMessage {
    static let columns = columns(user: "user_id", device: "device_id")
}
