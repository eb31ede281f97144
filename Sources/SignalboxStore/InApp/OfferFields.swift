package import SignalboxInApp

/// The lists of an offer and its campaign, as one BLOB.
extension Offer {
    /// The tags of the column `lists`. They are part of the file's form.
    /// No statement searches them.
    private enum Tag {
        /// The name of a limit that the display will count in.
        static let namedLimit: UInt8 = 1
        /// The key of an accepted report, the oldest first.
        static let report: UInt8 = 2
        /// A message that the client may get instead, the best first.
        static let runnerUp: UInt8 = 3
        /// The offer that the answer to the report before it had.
        static let followUp: UInt8 = 4
        /// The vendor's campaign. Earlier versions skip it, and do not write it again.
        static let campaign: UInt8 = 5
    }

    /// Nil if all of them are empty and there is no campaign.
    package var lists: [UInt8]? {
        if namedLimits.isEmpty && reports.isEmpty && runnersUp.isEmpty && campaign == nil { return nil }
        var writer = FieldWriter()
        for name in namedLimits { writer.add(Tag.namedLimit, name) }
        for report in reports {
            writer.add(Tag.report, report.key)
            if let offer = report.offer { writer.add(Tag.followUp, offer) }
        }
        for message in runnersUp { writer.add(Tag.runnerUp, message) }
        if let campaign { writer.add(Tag.campaign, campaign) }
        return writer.bytes
    }

    /// Appends to empty lists. Throws ``DamagedValue``; skips unknown tags.
    package mutating func readLists(_ bytes: UnsafeRawBufferPointer) throws {
        try FieldContent(bytes).forEach { tag, content in
            switch tag {
            case Tag.namedLimit: namedLimits.append(try content.text())
            case Tag.report: reports.append(AcceptedReport(key: try content.text()))
            case Tag.followUp:
                guard let last = reports.indices.last else { throw FieldContent.damage }
                reports[last].offer = try content.text()
            case Tag.runnerUp: runnersUp.append(try content.text())
            case Tag.campaign: campaign = try content.text()
            default: break
            }
        }
    }
}
