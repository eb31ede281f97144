import SignalboxInApp

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

    // MARK: Lists

    /// The tags of the column `lists`. They are part of the file's form.
    /// Lists that no statement searches.
    private enum Tag {
        /// The name of a limit that the display will count in.
        static let namedLimit: UInt8 = 1
        /// The key of an accepted report, the oldest first.
        static let report: UInt8 = 2
        /// A message that the client may get instead, the best first.
        static let runnerUp: UInt8 = 3
        /// The offer that the answer to the report before it had.
        static let followUp: UInt8 = 4
    }

    /// Nil if all of them are empty.
    private var lists: [UInt8]? {
        if namedLimits.isEmpty && reports.isEmpty && runnersUp.isEmpty { return nil }
        var writer = FieldWriter()
        for name in namedLimits { writer.add(Tag.namedLimit, name) }
        for report in reports {
            writer.add(Tag.report, report.key)
            if let offer = report.offer { writer.add(Tag.followUp, offer) }
        }
        for message in runnersUp { writer.add(Tag.runnerUp, message) }
        return writer.bytes
    }

    /// Appends to empty lists. Throws ``DamagedValue``; skips unknown tags.
    private mutating func readLists(_ bytes: UnsafeRawBufferPointer) throws {
        try FieldContent(bytes).forEach { tag, content in
            switch tag {
            case Tag.namedLimit: namedLimits.append(try content.text())
            case Tag.report: reports.append(AcceptedReport(key: try content.text()))
            case Tag.followUp:
                guard let last = reports.indices.last else { throw FieldContent.damage }
                reports[last].offer = try content.text()
            case Tag.runnerUp: runnersUp.append(try content.text())
            default: break
            }
        }
    }
}
