import SignalboxInApp
import SignalboxStore

/// A row of `inapp_offers`. Its device and its id, then the columns that a later state replaces.
/// Rows are in the order in which offers were made, so that a commit writes few pages. The row of a device has the
/// numbers of its offers (``OfferNumbers``).
extension Offer {
    /// In the order of ``init(_:)``, without the number `seq`.
    /// The names are part of the file's form.
    static let columns = [
        "device", "id", "user", "message", "revision", "vendor", "kind", "state", "triggered_at", "due", "lapse",
        "flags", "session", "place", "until", "lease_until", "unanswered", "shown_at", "ended_at", "reason", "clicks",
        "slot", "product", "sku", "page", "lists",
    ]

    /// Inserts an offer. Arguments: those of ``bindKey(_:)``, then those of ``bindState(_:)``.
    static let insertion = """
        INSERT INTO inapp_offers (\(columns.joined(separator: ", ")))
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
        """
    /// Replaces all columns but the device and the id, which never change. Arguments: those of ``bindState(_:)``,
    /// then the number.
    static let update = """
        UPDATE inapp_offers SET \(columns.dropFirst(2).map { "\($0) = ?" }.joined(separator: ", ")) WHERE seq = ?
        """

    /// Throws ``DamagedValue`` for a column of another type, for a negative count, and for a word that is not one of
    /// its enumeration. The columns must be ``columns``.
    init(_ row: inout RowColumns) throws {
        let (device, id, user, message) = (try row.text(), try row.text(), try row.text(), try row.text())
        let (revision, vendor, kind) = (try row.count(), try row.text(), try row.word(as: Message.Kind.self))
        let (state, triggeredAt) = (try row.word(as: State.self), try row.number())
        let (due, lapse, flags) = (try row.number(), try row.optionalNumber(), Flags(rawValue: try row.count()))
        self.init(
            id: id, device: device, user: user, message: message, revision: revision, vendor: vendor, kind: kind,
            state: state, triggeredAt: triggeredAt, due: due, lapse: lapse, flags: flags, namedLimits: [],
            session: try row.count())
        order = try row.count()
        until = try row.optionalNumber()
        leaseUntil = try row.optionalNumber()
        unanswered = try row.count()
        shownAt = try row.optionalNumber()
        endedAt = try row.optionalNumber()
        reason = try row.optionalText()
        clicks = try row.count()
        let (slot, product, sku) = (try row.optionalText(), try row.optionalText(), try row.optionalText())
        self.slot = slot.map { SlotLabel($0, productID: product, sku: sku) }
        page = try row.optionalText()
        _ = try row.withBytes { try readLists($0) }
    }

    /// Binds the device and the id.
    func bindKey(_ row: inout RowStatement.Arguments) {
        row.bind(device)
        row.bind(id)
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
