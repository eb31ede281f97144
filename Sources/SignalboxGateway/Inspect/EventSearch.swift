package import Foundation
import SignalboxNotification
package import SignalboxStore

/// A search for stored events, as the command line spells it.
package struct EventSearch: Sendable {
    /// Conditions on the subject, the source and the warnings; nil for all.
    package var vendor, kind, source, warning: String?
    /// Selects events without a delivery.
    package var isUnrouted = false
    /// JSON of an event pattern.
    package var pattern: String?
    /// RFC 3339, or an age such as `24h`.
    package var since, until: String?

    /// Finds every event.
    package init() {}

    /// The conditions for the store. `now`: the instant from which ages count. Throws ``ReplayError/refused(_:)`` with
    /// the errors, one sentence a line.
    package func filter(now: Date) throws(ReplayError) -> EventFilter {
        var request = SelectionRequest()
        (request.filter, request.since, request.until) = (pattern, since, until)
        let selection = try request.selection(now: now)
        var (filter, test) = (EventFilter(), EventTest())
        (filter.vendor, filter.kind, filter.source) = (vendor, kind, source.map { SourceName($0) })
        filter.isUnrouted = isUnrouted
        (filter.acceptedSince, filter.acceptedBefore) = (selection.since?.date, selection.until?.date)
        (test.warning, test.pattern) = (warning, selection.filter)
        filter.matches = test.test
        return filter
    }

    /// Passes the newest events that a filter selects to `body`, at most `limit`. Reads the queue in pages, so that
    /// other processes can write in between. Throws errors of the queue; the events before the failing page are
    /// passed then.
    package static func newest(
        _ limit: Int, _ filter: EventFilter, in queue: any EventStore, _ body: (EventRecord) -> Void
    ) async throws(StoreError) {
        var (filter, left) = (filter, limit)
        while left > 0 {
            let page = try await queue.eventPage(filter, limit: min(left, 500), examining: StoreLimits.scannedRows)
            for record in page.records { body(record) }
            left -= page.records.count
            guard let next = page.next else { return }
            filter.before = next
        }
    }
}
