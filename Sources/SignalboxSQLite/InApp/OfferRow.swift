import SignalboxInApp
import SignalboxStore

/// A row of `inapp_offers`. Its id and its device, then the columns that a later state replaces.
/// Rows are in the order in which offers were made, so that a commit writes few pages. The row of a device has the
/// numbers of its offers (``OfferNumbers``).
extension Offer {
    /// The names are part of the file's form. Without the number `seq`.
    static let columns = columns(user: "user")

    /// Inserts an offer. Arguments: those of ``bindKey(_:)``, then those of ``bindState(_:)``.
    static let insertion = """
        INSERT INTO inapp_offers (\(columns.joined(separator: ", ")))
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
        """
    /// Replaces all columns but the id and the device, which never change. Arguments: those of ``bindState(_:)``,
    /// then the number.
    static let update = """
        UPDATE inapp_offers SET \(columns.dropFirst(2).map { "\($0) = ?" }.joined(separator: ", ")) WHERE seq = ?
        """

    /// Binds the id and the device.
    func bindKey(_ row: inout RowStatement.Arguments) {
        row.bind(id)
        row.bind(device)
    }

    /// Binds the other columns in the order of ``columns``. The members of a slot are NULL for an offer that needs the
    /// screen.
    func bindState(_ row: inout RowStatement.Arguments) {
        row.bind(user)
        row.bind(message)
        row.bind(revision)
        row.bind(vendor)
        row.bind(kind.rawValue)
        row.bind(state.rawValue)
        row.bind(triggeredAt)
        row.bind(due)
        row.bind(lapse)
        row.bind(flags.rawValue)
        row.bind(session)
        row.bind(order)
        row.bind(until)
        row.bind(leaseUntil)
        row.bind(unanswered)
        row.bind(shownAt)
        row.bind(endedAt)
        row.bind(reason)
        row.bind(clicks)
        row.bind(slot?.name)
        row.bind(slot?.productID)
        row.bind(slot?.sku)
        row.bind(page)
        row.bind(lists)
    }
}
