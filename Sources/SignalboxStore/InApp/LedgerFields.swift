import Foundation
package import SignalboxInApp

/// The displays and totals of a user or a device as one BLOB, the column `ledger` of its row. Each decision that
/// changes them replaces them as a whole. The tags are part of the file's form: none changes its meaning.
/// A display takes about 100 bytes and a total about 30. A ledger has at most ``Bounds/history`` displays. The form
/// has a version and skips unknown tags, like all forms of ``FieldWriter``.
package enum LedgerFields {
    /// The fields of the BLOB: the displays, the oldest first, then the totals by kind and name.
    private enum Tag {
        static let display: UInt8 = 1
        static let total: UInt8 = 2
    }

    /// The fields of a display.
    fileprivate enum DisplayTag {
        static let offer: UInt8 = 1
        /// Milliseconds since 1970.
        static let at: UInt8 = 2
        static let message: UInt8 = 3
        static let vendor: UInt8 = 4
        /// Absent for the owner itself.
        static let device: UInt8 = 5
        /// The number of the device's session.
        static let session: UInt8 = 6
        /// Present for a display that counts for its own message only.
        static let exempt: UInt8 = 7
        /// Absent for 1.
        static let count: UInt8 = 8
        /// One field for each name.
        static let namedLimit: UInt8 = 9
    }

    /// The fields of a total.
    private enum TotalTag {
        /// As the columns of ``Ledger/Key``.
        static let what: UInt8 = 1
        /// Absent for an empty name, such as that of the scope.
        static let name: UInt8 = 2
        static let count: UInt8 = 3
        /// The time of the last display, in milliseconds since 1970.
        static let last: UInt8 = 4
    }

    /// Equal ledgers have equal bytes. `owner`: the id of the user or the device.
    /// Never fails: every ledger has a form.
    package static func write(_ ledger: Ledger, of owner: String) -> [UInt8] {
        var writer = FieldWriter(capacity: 64 + 128 * ledger.displays.count + 32 * ledger.totals.count)
        for display in ledger.displays { writer.add(Tag.display) { $0.write(display, of: owner) } }
        let totals = ledger.totals.map { ($0.key.columns, $0.value) }.sorted { $0.0 < $1.0 }
        for (key, total) in totals {
            writer.add(Tag.total) { writer in
                writer.add(TotalTag.what, Int64(key.what))
                if !key.name.isEmpty { writer.add(TotalTag.name, key.name) }
                writer.add(TotalTag.count, Int64(total.count))
                writer.add(TotalTag.last, total.last)
            }
        }
        return writer.bytes
    }

    /// Throws ``DamagedValue``. `owner`: as when it was written.
    package static func read(_ bytes: UnsafeRawBufferPointer, of owner: String) throws -> Ledger {
        var (displays, totals): ([Ledger.Display], [Ledger.Key: Ledger.Total]) = ([], [:])
        try FieldContent(bytes).forEach { tag, content in
            switch tag {
            case Tag.display: displays.append(try display(content, of: owner))
            case Tag.total:
                let (key, total) = try self.total(content)
                totals[key] = total
            default: break
            }
        }
        return Ledger(displays: displays, totals: totals)
    }

    /// Throws ``DamagedValue`` for a display without an offer or a message.
    private static func display(_ content: FieldContent, of owner: String) throws -> Ledger.Display {
        var display = Ledger.Display(offer: "", at: 0, message: "", vendor: "", device: owner, session: 0)
        try content.forEach { tag, content in
            switch tag {
            case DisplayTag.offer: display.offer = try content.text()
            case DisplayTag.at: display.at = try content.instant()
            case DisplayTag.message: display.message = try content.text()
            case DisplayTag.vendor: display.vendor = try content.text()
            case DisplayTag.device: display.device = try content.text()
            case DisplayTag.session: display.session = try content.count()
            case DisplayTag.exempt: display.isExempt = true
            case DisplayTag.count: display.count = try content.count()
            case DisplayTag.namedLimit: display.namedLimits.append(try content.text())
            default: break
            }
        }
        guard !display.offer.isEmpty, !display.message.isEmpty else { throw FieldContent.damage }
        return display
    }

    /// Throws ``DamagedValue`` for a total of an unknown kind.
    private static func total(_ content: FieldContent) throws -> (Ledger.Key, Ledger.Total) {
        var (what, name, total) = (Int64(-1), "", Ledger.Total(count: 0, last: 0))
        try content.forEach { tag, content in
            switch tag {
            case TotalTag.what: what = try content.number()
            case TotalTag.name: name = try content.text()
            case TotalTag.count: total.count = try content.count()
            case TotalTag.last: total.last = try content.instant()
            default: break
            }
        }
        guard let key = Ledger.Key(what: what, name: name) else { throw FieldContent.damage }
        return (key, total)
    }
}

/// One display; its tags are those of ``LedgerFields``.
extension FieldWriter {
    /// Members that equal their default are left out.
    fileprivate mutating func write(_ display: Ledger.Display, of owner: String) {
        typealias Tag = LedgerFields.DisplayTag
        add(Tag.offer, display.offer)
        add(Tag.at, display.at)
        add(Tag.message, display.message)
        add(Tag.vendor, display.vendor)
        if display.device != owner { add(Tag.device, display.device) }
        add(Tag.session, Int64(display.session))
        if display.isExempt { add(Tag.exempt, 1) }
        if display.count != 1 { add(Tag.count, Int64(display.count)) }
        for name in display.namedLimits { add(Tag.namedLimit, name) }
    }
}

/// Numbers that decisions add up and compare.
extension FieldContent {
    /// A non-negative number.
    func count() throws -> Int {
        let number = try instant()
        guard number >= 0 else { throw Self.damage }
        return Int(number)
    }

    /// A number within the bounds of a column, so that sums with it do not overflow.
    func instant() throws -> Instant {
        let number = try number()
        guard Date.storedTimes.contains(number) else { throw Self.damage }
        return number
    }
}
