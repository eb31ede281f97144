package import SignalboxNotification
package import SignalboxRouting

/// Which payloads of a recording are replayed.
package struct Selection: Sendable {
    /// By recorded time: not earlier.
    package var since: Timestamp?
    /// By recorded time: earlier.
    package var until: Timestamp?
    /// Empty for all.
    package var vendors: Set<String>
    /// Over the event as it would be delivered.
    package var filter: Pattern?

    package init(
        since: Timestamp? = nil, until: Timestamp? = nil, vendors: Set<String> = [], filter: Pattern? = nil
    ) {
        self.since = since
        self.until = until
        self.vendors = vendors
        self.filter = filter
    }

    /// Whether it takes an event to know what is selected.
    package var needsEvents: Bool { !vendors.isEmpty || filter != nil }

    /// Whether what was recorded then may be selected; what has no time is.
    package func covers(_ time: Timestamp?) -> Bool {
        guard let time else { return true }
        if let since, time < since { return false }
        if let until, time >= until { return false }
        return true
    }

    package func covers(vendor: VendorID) -> Bool { vendors.isEmpty || vendors.contains(vendor.name) }
}
