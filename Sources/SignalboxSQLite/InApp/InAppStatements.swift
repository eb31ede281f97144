import GRDB
import SignalboxInApp
import SignalboxStore

/// The statements about in-app rows that run for each decision. Each finds its rows by an index.
/// The statements before `putUser` only read. A decision runs `device`, `user`, `leasedElsewhere`, and `offer` for each
/// offer of the device; a report begins with `offerOfID`. `toUser` and `toDevice` run once any message has an address,
/// and `tally` for each campaign of a running offer once any campaign has a cap over all users. A test checks the plan
/// of every statement.
enum InAppStatement: Int, CaseIterable {
    /// Reads by the key of one user, device, offer or campaign.
    case user, device, displays, totals, offer, offerOfID, offersOfDevice, leasedElsewhere, toUser, toDevice, tally
    case message
    /// For totals of messages that upkeep may have removed.
    case hasMessage
    /// Once for each group, so that most decisions need not look for addressed messages and for tallies.
    case hasMessageToUser, hasMessageToDevice, hasTally
    /// Statements that touch a row find it by its rowid, which the same transaction has read.
    case putUser, touchUser, putDevice, touchDevice, touchDueDevice
    case insertOffer, updateOffer, removeOffer
    /// Rows of owners whose ledger is not in their row.
    case removeDisplays, removeTotals, putTotal, addTally
    /// Replaces all columns of a message.
    case putMessage

    /// The text is a constant of the program; ids and other values are arguments only.
    var sql: String { isRead ? reading : writing }

    /// Whether it changes no row.
    var isRead: Bool { rawValue < Self.putUser.rawValue }

    /// Columns are in the order in which the types of `InAppRows.swift` and `OfferRow.swift` read them.
    private var reading: String {
        switch self {
        case .user: "SELECT \(UserRow.columns) FROM inapp_users WHERE id = ?"
        case .device: "SELECT \(DeviceRow.columns) FROM inapp_devices WHERE id = ?"
        case .displays: "SELECT \(Ledger.Display.columns) FROM inapp_displays WHERE kind = ? AND owner = ?"
        case .totals: "SELECT what, name, count, last FROM inapp_totals WHERE kind = ? AND owner = ?"
        case .offer: "SELECT \(Self.offerColumns) FROM inapp_offers WHERE seq = ?"
        case .offerOfID: "SELECT seq, \(Self.offerColumns) FROM inapp_offers WHERE id = ?"
        case .offersOfDevice: "SELECT offers FROM inapp_devices WHERE id = ?"
        case .leasedElsewhere:
            """
            SELECT seq, \(Self.offerColumns) FROM inapp_offers
            WHERE user = ? AND state = 'O' AND device <> ? LIMIT \(Bounds.leasesElsewhere)
            """
        case .toUser: Self.addressed("user")
        case .toDevice: Self.addressed("device")
        case .tally: "SELECT committed, reserved FROM inapp_tallies WHERE message = ?"
        case .message: "SELECT \(StoredInAppMessage.columns) FROM inapp_messages WHERE id = ?"
        case .hasMessage: "SELECT 1 FROM inapp_messages WHERE id = ?"
        case .hasMessageToUser: Self.hasAddressed("user")
        case .hasMessageToDevice: Self.hasAddressed("device")
        case .hasTally: "SELECT 1 FROM inapp_tallies WHERE message >= '' LIMIT 1"
        default: preconditionFailure("The statement writes.")
        }
    }

    /// The arguments are in the order of the columns, then those of the condition. Columns of an index are named
    /// only by the statements that change them.
    private var writing: String {
        switch self {
        // A null ledger does not change the stored one.
        case .putUser:
            """
            INSERT INTO inapp_users (last_now, ledger, seen, id) VALUES (?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET last_now = excluded.last_now, seen = excluded.seen,
                ledger = coalesce(excluded.ledger, ledger)
            """
        case .touchUser: "UPDATE inapp_users SET last_now = ?, ledger = coalesce(?, ledger) WHERE rowid = ?"
        case .putDevice: DeviceRow.upsert
        case .touchDevice: "\(DeviceRow.update) WHERE rowid = ?"
        case .touchDueDevice: "\(DeviceRow.update), next_due = ? WHERE rowid = ?"
        case .insertOffer: Offer.insertion
        case .updateOffer: Offer.update
        case .removeOffer: "DELETE FROM inapp_offers WHERE seq = ?"
        case .removeDisplays: "DELETE FROM inapp_displays WHERE kind = ? AND owner = ?"
        case .removeTotals: "DELETE FROM inapp_totals WHERE kind = ? AND owner = ?"
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

    /// In the order of ``Offer/columns``.
    private static let offerColumns = Offer.columns.joined(separator: ", ")

    /// `column`: the address, `user` or `device`. No row without an active message for a user or a device.
    private static func hasAddressed(_ column: String) -> String {
        "SELECT 1 FROM inapp_messages WHERE \(column) >= '' AND withdrawn_at IS NULL LIMIT 1"
    }

    /// `column`: the address, `user` or `device`. The newest messages come first.
    /// The index has the messages of one user or device in the order of their registration, without withdrawn ones.
    private static func addressed(_ column: String) -> String {
        """
        SELECT \(StoredInAppMessage.columns) FROM inapp_messages
        WHERE \(column) = ? AND withdrawn_at IS NULL
        ORDER BY registered_at DESC LIMIT \(StoreLimits.addressedMessages)
        """
    }
}

/// The prepared statements of one transaction or read. They share their memory, so only one may run at a time.
/// A statement is compiled once for each connection, which caches it by its text. This list spares the lookup for
/// all but the first use in a transaction.
struct InAppStatements {
    /// By raw value, made once for the process.
    private static let texts = InAppStatement.allCases.map(\.sql)

    /// By raw value; nil until the first use.
    private var prepared = [RowStatement?](repeating: nil, count: texts.count)
    /// Its memory for arguments serves all others.
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
