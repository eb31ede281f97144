package import Foundation
package import SignalboxConfig
package import SignalboxNotification
package import SignalboxRouting

/// Selects payloads of a recording.
package struct Selection: Sendable {
    /// Earliest recorded time, inclusive.
    package var since: Timestamp?
    /// Latest recorded time, exclusive.
    package var until: Timestamp?
    /// Names of vendors; empty for all.
    package var vendors: Set<String> = []
    /// Matched against the event as it would be delivered.
    package var filter: Pattern?

    package init() {}

    /// True if the selection needs the event, not only the recorded time.
    package var needsEvents: Bool { !vendors.isEmpty || filter != nil }

    /// Whether a payload recorded at `time` may be selected. A payload without a time may.
    package func covers(_ time: Timestamp?) -> Bool {
        guard let time else { return true }
        if let since, time < since { return false }
        if let until, time >= until { return false }
        return true
    }

    package func covers(vendor: VendorID) -> Bool { vendors.isEmpty || vendors.contains(vendor.name) }
}

/// A selection as the command line spells it.
package struct SelectionRequest: Sendable {
    package var vendors: [String] = []
    /// JSON of an event pattern.
    package var filter: String?
    /// RFC 3339, or an age such as `24h`.
    package var since: String?
    package var until: String?
    /// Maximum number of events.
    package var limit: Int?

    package init() {}

    /// The errors in the request, as one sentence a line; nil if there is none.
    package func objection(now: Date) -> String? {
        for text in [since, until].compactMap(\.self) where ReplayText.moment(text, now: now) == nil {
            return "Invalid time \"\(text)\": use RFC 3339, such as 2026-11-20T21:29:00Z, or an age such as 24h."
        }
        if let since = since.flatMap({ ReplayText.moment($0, now: now) }),
            let until = until.flatMap({ ReplayText.moment($0, now: now) }), since >= until
        {
            return "--since is not before --until, so no payload can be selected."
        }
        if let limit, limit < 1 { return "Invalid --limit \(limit): use 1 or more." }
        do throws(InvalidConfig) {
            if let filter { _ = try Pattern(text: Array(filter.utf8)) }
            return nil
        } catch {
            return error.mistakes.map { "--filter \($0.description)" }.joined(separator: "\n")
        }
    }

    /// `now`: the instant from which ages count. Throws ``ReplayError/refused(_:)`` with the text of
    /// ``objection(now:)``.
    func selection(now: Date) throws(ReplayError) -> Selection {
        var selection = Selection()
        selection.since = since.flatMap { ReplayText.moment($0, now: now) }
        selection.until = until.flatMap { ReplayText.moment($0, now: now) }
        selection.vendors = Set(vendors)
        do throws(InvalidConfig) {
            selection.filter = try filter.map { (text) throws(InvalidConfig) in try Pattern(text: Array(text.utf8)) }
        } catch {
            throw .refused(objection(now: now) ?? "Invalid --filter.")
        }
        return selection
    }

    /// Refuses the name of a vendor that no detector and no source of a config produces: a slip would select no
    /// payload.
    package func check(_ chain: VendorChain, _ config: GatewayConfig) throws(ReplayError) {
        guard !vendors.isEmpty else { return }
        let recognised = chain.links.flatMap(\.profiles).map(\.vendor) + config.sourceVendors.values
        let known = Set(recognised.map(\.name) + [VendorID.unknown.name])
        guard let stranger = vendors.first(where: { !known.contains($0) }) else { return }
        let hint =
            known.contains(stranger.lowercased())
            ? "Did you mean \(stranger.lowercased())?" : "Run `signalbox vendors` for the list."
        throw .refused("Unknown vendor \"\(stranger)\". \(hint)")
    }
}
