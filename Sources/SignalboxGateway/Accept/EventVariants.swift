import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting

/// Makes the variants of events that destinations receive instead of the stored event, and counts committed events.
/// Callable from any thread.
package struct EventVariants: Sendable {
    /// Its counts are those of the routes; dead-letter events count in them too.
    package let writer: EventVariantWriter
    private let parsers = ParserPool.events
    private let observation: Observation?

    /// `tokens`: hashes values that a route redacts, as it hashes device tokens. `counts`: the counters to use; a new
    /// set unless the caller shares one. `observation`: counts committed events too.
    package init(tokens: TokenHash, counts: RouteCounts = RouteCounts(), observation: Observation? = nil) {
        self.observation = observation
        writer = EventVariantWriter(counts: counts) { tokens.name(of: $0) }
    }

    /// Redacts and transforms an event for a target; nil if the target has neither. Borrows a parser for the call, so
    /// it may be called while another parser holds the event. `allowance`: see ``EventVariantWriter``.
    fileprivate func variant(
        of event: [UInt8], for target: RouteTable.Target, awaitsMedia: Bool, within allowance: inout VariantAllowance
    ) -> [UInt8]? {
        guard target.variant != nil else { return nil }
        return parsers.withParser {
            writer.variant(of: event, for: target, awaitsMedia: awaitsMedia, within: &allowance, with: $0)
        }
    }

    /// Counts committed events and their routes. `duplicates`: positions of events that repeat an earlier one and were
    /// not stored. Followers count with their event. Call it after the commit only, so that a rejected request does
    /// not count.
    func count(_ events: [RoutedEvent], without duplicates: [Int: String]) {
        count(EventTally(events, without: duplicates))
    }

    /// The same for events that were tallied before the commit.
    func count(_ tally: EventTally) {
        observation?.accepted(tally)
        // Neighbours usually match the same routes, so they are counted together.
        var (routes, times): ([String], Int) = ([], 0)
        for group in tally.groups {
            if group.first.routes != routes {
                writer.counts.countMatch(of: routes, times: times)
                (routes, times) = (group.first.routes, 0)
            }
            times += group.count
            writer.counts.flows.count(
                from: group.first.event.source, of: group.first.event.vendor, routes: routes, times: group.count)
        }
        writer.counts.countMatch(of: routes, times: times)
    }
}

/// The variants of one event, each made once. Used for one event and then discarded; it is not shared between tasks.
struct VariantList {
    private let event: Event
    private let body: JSONValue
    private let maker: EventVariants
    private var known: [Form: Int?] = [:]
    private var allowance = VariantAllowance()
    /// Bodies of the variants.
    private(set) var variants: [[UInt8]] = []

    /// Two targets with equal forms share a variant. Equality of forms means that the bytes are equal.
    private struct Form: Hashable {
        let hasPayload: Bool
        let hasMedia: Bool
        /// The route that redacts or transforms.
        let route: String?
        let awaitsMedia: Bool
    }

    /// `body`: the parsed event. `body` must stay valid as long as this list.
    init(_ event: Event, _ body: JSONValue, by maker: EventVariants) {
        (self.event, self.body, self.maker) = (event, body, maker)
    }

    /// The index of a target's variant; nil for the stored event. `awaitsMedia`: the delivery waits for the event's
    /// files and is transformed after that. Removes the event's files for a target that receives none, and adds the
    /// shown payload for a target that includes it.
    mutating func variant(for target: RouteTable.Target, awaitsMedia: Bool) -> Int? {
        let losesMedia = target.media == .none && body["data"]?["media"] != nil
        let shown = target.including.contains(.apns) ? event.shown : nil
        guard losesMedia || shown != nil || target.variant != nil else { return nil }
        let form = Form(
            hasPayload: shown != nil, hasMedia: !losesMedia, route: target.variant == nil ? nil : target.route,
            awaitsMedia: target.variant != nil && awaitsMedia)
        if let index = known[form] { return index }
        let index = make(form, for: target)
        known[form] = .some(index)
        return index
    }

    /// The steps have a fixed order: files, shown payload, then the route's own variant. Nil if the stored event
    /// serves.
    private mutating func make(_ form: Form, for target: RouteTable.Target) -> Int? {
        var bytes = event.body
        if !form.hasMedia { bytes = body.eventWithoutMedia }
        if form.hasPayload, let shown = event.shown { bytes = shown.asMember(ofEvent: bytes) }
        let variant = maker.variant(of: bytes, for: target, awaitsMedia: form.awaitsMedia, within: &allowance)
        guard form.hasPayload || !form.hasMedia || variant != nil else { return nil }
        allowance.take(bytes: (variant ?? bytes).count)
        variants.append(variant ?? bytes)
        return variants.count - 1
    }
}
