import GRDB
import SignalboxInApp
import SignalboxStore

/// The statements about in-app rows that run for each decision. Each finds its rows by an index.
enum InAppStatement: Int, CaseIterable {
    case user, device, displays, totals, offers, leasedElsewhere, offerOwner, toUser, toDevice, tally, message
    case putUser, touchUser, putDevice, touchDevice, putOffer, removeOffer, putDisplay, removeDisplay, putTotal,
        addTally
    case putMessage

    var sql: String { isRead ? reading : writing }

    /// Whether it changes no row.
    var isRead: Bool { rawValue < Self.putUser.rawValue }

    private var reading: String {
        switch self {
        case .user: "SELECT last_now, seen FROM inapp_users WHERE id = ?"
        case .device: "SELECT \(DeviceRow.columns) FROM inapp_devices WHERE id = ?"
        case .displays: "SELECT \(Ledger.Display.columns) FROM inapp_displays WHERE kind = ? AND owner = ?"
        case .totals: "SELECT what, name, count, last FROM inapp_totals WHERE kind = ? AND owner = ?"
        case .offers: "SELECT \(Self.offerColumns) FROM inapp_offers WHERE device = ?"
        case .leasedElsewhere:
            """
            SELECT \(Self.offerColumns) FROM inapp_offers
            WHERE user = ? AND state = 'O' AND device <> ? LIMIT \(Self.mostLeases)
            """
        case .offerOwner: "SELECT device, user FROM inapp_offers WHERE id = ?"
        case .toUser: Self.addressed("user")
        case .toDevice: Self.addressed("device")
        case .tally: "SELECT committed, reserved FROM inapp_tallies WHERE message = ?"
        case .message: "SELECT \(StoredInAppMessage.columns) FROM inapp_messages WHERE id = ?"
        default: preconditionFailure("The statement writes.")
        }
    }

    private var writing: String {
        switch self {
        case .putUser:
            """
            INSERT INTO inapp_users (last_now, seen, id) VALUES (?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET last_now = excluded.last_now, seen = excluded.seen
            """
        case .touchUser: "UPDATE inapp_users SET last_now = ? WHERE id = ?"
        case .putDevice: DeviceRow.upsert
        case .touchDevice:
            """
            UPDATE inapp_devices SET user = ?, last_now = ?, last_seen = ?, session = ?, last_end = ?,
                last_walkthrough = ?, last_order = ?, last_decision = ?, state = ? WHERE id = ?
            """
        case .putOffer: Offer.upsert
        case .removeOffer: "DELETE FROM inapp_offers WHERE id = ?"
        case .putDisplay:
            """
            INSERT OR REPLACE INTO inapp_displays (kind, owner, \(Ledger.Display.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        case .removeDisplay: "DELETE FROM inapp_displays WHERE kind = ? AND owner = ? AND offer = ?"
        case .putTotal:
            """
            INSERT INTO inapp_totals (kind, owner, what, name, count, last) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (kind, owner, what, name) DO UPDATE SET count = excluded.count, last = excluded.last
            """
        case .addTally: Tally.addition
        case .putMessage:
            """
            INSERT OR REPLACE INTO inapp_messages (\(StoredInAppMessage.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        default: preconditionFailure("The statement reads.")
        }
    }

    /// Leases of one user on other devices that a decision reads. More occur only if many people share one name.
    private static let mostLeases = 1000

    private static let offerColumns = Offer.columns.joined(separator: ", ")

    /// `column`: the address, `user` or `device`. The newest messages come first.
    private static func addressed(_ column: String) -> String {
        """
        SELECT \(StoredInAppMessage.columns) FROM inapp_messages
        WHERE \(column) = ? AND withdrawn_at IS NULL
        ORDER BY registered_at DESC LIMIT \(StoreLimits.addressedMessages)
        """
    }
}

/// The prepared statements of one transaction or read. They share their memory, so only one may run at a time.
struct InAppStatements {
    private static let texts = InAppStatement.allCases.map(\.sql)

    private var prepared = [RowStatement?](repeating: nil, count: texts.count)
    private var first: RowStatement?

    /// Prepared at the first use.
    mutating func callAsFunction(_ statement: InAppStatement, in db: Database) throws -> RowStatement {
        if let found = prepared[statement.rawValue] { return found }
        let made = try RowStatement(db, sql: Self.texts[statement.rawValue], sharing: first)
        prepared[statement.rawValue] = made
        if first == nil { first = made }
        return made
    }
}
