package import Foundation
package import SignalboxConfig
package import SignalboxNotification
package import SignalboxRouting

/// Selects payloads of a recording. All parts must hold. It has no limit of events; the session counts the events.
package struct Selection: Sendable {
    /// Earliest recorded time, inclusive.
    package var since: Timestamp?
    /// Latest recorded time, exclusive.
    package var until: Timestamp?
    /// Names of vendors; empty for all.
    package var vendors: Set<String> = []
    /// Matched against the event as it would be delivered.
    package var filter: Pattern?

    /// True if the selection needs the event, not only the recorded time.
    package var needsEvents: Bool { !vendors.isEmpty || filter != nil }

    /// Whether a payload recorded at `time` may be selected. A payload without a time may.
    package func covers(_ time: Timestamp?) -> Bool {
        guard let time else { return true }
        if let since, time < since { return false }
        if let until, time >= until { return false }
        return true
    }

    /// Whether events of this vendor may be selected. Names are compared exactly.
    package func covers(vendor: VendorID) -> Bool { vendors.isEmpty || vendors.contains(vendor.name) }
}

/// A selection as the command line spells it. ``selection(now:)`` checks the values.
package struct SelectionRequest: Sendable {
    /// Names of vendors; empty for all.
    package var vendors: [String] = []
    /// JSON of an event pattern.
    package var filter: String?
    /// RFC 3339, or an age such as `24h`.
    package var since: String?
    /// As ``since``, exclusive.
    package var until: String?
    /// Maximum number of events.
    package var limit: Int?

    /// Selects every payload, without a limit.
    package init() {}

    /// Reads the request. `now`: the instant from which ages count. Throws ``ReplayError/refused(_:)`` with the
    /// errors, one sentence a line. Compiles the pattern, which is the same language as a route's `match`.
    package func selection(now: Date) throws(ReplayError) -> Selection {
        var selection = Selection()
        selection.since = try Self.moment(since, now)
        selection.until = try Self.moment(until, now)
        if let since = selection.since, let until = selection.until, since >= until {
            throw .refused("--since is not before --until, so they select nothing.")
        }
        if let limit, limit < 1 { throw .refused("Invalid --limit \(limit): use 1 or more.") }
        selection.vendors = Set(vendors)
        do throws(InvalidConfig) {
            selection.filter = try filter.map { (text) throws(InvalidConfig) in try Pattern(text: Array(text.utf8)) }
        } catch {
            throw .refused(error.mistakes.map { "--filter \($0.description)" }.joined(separator: "\n"))
        }
        return selection
    }

    private static func moment(_ text: String?, _ now: Date) throws(ReplayError) -> Timestamp? {
        guard let text else { return nil }
        guard let moment = ReplayText.moment(text, now: now) else {
            throw .refused(
                "Invalid time \"\(text)\": use RFC 3339, such as 2026-11-20T21:29:00Z, or an age such as 24h.")
        }
        return moment
    }

    /// Refuses the name of a vendor that no detector and no source of a config produces: a slip would select no
    /// payload. Throws ``ReplayError/refused(_:)``, with the nearest known one.
    package func check(_ config: GatewayConfig) throws(ReplayError) {
        guard !vendors.isEmpty else { return }
        let known = config.vendorNames
        guard let stranger = vendors.first(where: { !known.contains($0) }) else { return }
        let hint =
            Spelling.nearest(to: stranger, among: known).map { "Did you mean \"\($0)\"?" }
            ?? "Run `signalbox vendors` for the list."
        throw .refused("Unknown vendor \"\(stranger)\". \(hint)")
    }
}
