import SignalboxInApp
import SignalboxStore

// The rows of the in-app tables as values. Each type lists its columns once, and reads them in that order.

/// A row of `inapp_users`.
enum InAppUserRow {
    /// `ledger` has the encoding of ``LedgerFields``; the times are milliseconds since 1970.
    static let columns = "id, last_now, seen, ledger"

    static func read(_ row: PostgresRow) throws -> InAppRowsInMemory.Owner<UserState> {
        let id = try row.text(0)
        var user = UserState(id: id)
        user.lastNow = try row.number(1)
        user.ledger = try row.bytes(3).withUnsafeBytes { try LedgerFields.read($0, of: id) }
        return .init(user, .init(seen: try row.optionalNumber(2)))
    }
}

/// A row of `inapp_devices`.
enum InAppDeviceRow {
    /// `node` is not among them, because a decision writes and never reads it.
    static let columns = (["id"] + DeviceState.columns(user: "user_id") + ["next_due", "seen", "ledger"])
        .joined(separator: ", ")

    static func read(_ row: PostgresRow) throws -> InAppRowsInMemory.Owner<DeviceState> {
        let id = try row.text(0)
        var device = try DeviceState(id: id, row, from: 1)
        device.ledger = try row.bytes(12).withUnsafeBytes { try LedgerFields.read($0, of: id) }
        return .init(device, .init(seen: try row.optionalNumber(11), nextDue: try row.optionalNumber(10)))
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
