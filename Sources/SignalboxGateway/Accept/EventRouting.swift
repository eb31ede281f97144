import Foundation
package import SignalboxConfig
import SignalboxEgress
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

extension RouteTable {
    /// Assigns an event its deliveries. Routes match the bytes of the stored event, before redaction and
    /// transformation. A rejection is returned unchanged. `parser`: from ``ParserPool/events``. Rejects an event that
    /// is too large or whose routing takes too much work. `dedupe`: the source's setting; nil for none.
    package func route(
        _ result: Result<Event, Rejection>, with parser: JSONParser, variants: EventVariants,
        dedupe: GatewayConfig.Dedupe? = nil
    ) -> Result<RoutedEvent, Rejection> {
        result.flatMap { event in
            Result { () throws(Rejection) in
                let body = try parser.read(event, at: PayloadPosition())
                let dedupe = dedupe.flatMap { RoutedEvent.Dedupe($0, of: event, body) }
                return RoutedEvent(
                    event, try decision(on: body, at: PayloadPosition()), in: body, variants: variants, dedupe: dedupe)
            }
        }
    }

    /// Assigns an event of a recording its deliveries; nil if `filter` does not match. `hasLastingID`: the same
    /// payload of the same recording always gets the same id. Throws the rejections of an event that is too large or
    /// too costly.
    package func route(
        _ event: Event, at place: PayloadPosition, matching filter: Pattern?, hasLastingID: Bool,
        with parser: JSONParser, variants: EventVariants
    ) throws(Rejection) -> RoutedEvent? {
        let body = try parser.read(event, at: place)
        guard try filter?.selects(body, at: place) ?? true else { return nil }
        return RoutedEvent(
            event, try decision(on: body, at: place), in: body, variants: variants, hasLastingID: hasLastingID)
    }

    /// The routing decision on the bytes of an event; nil if `filter` does not match. `place`: the position of its
    /// payload, for a rejection. `parser`: from ``ParserPool/events``. Used by runs that need the decision only, so it
    /// makes no variants.
    func decision(
        on event: UnsafeBufferPointer<UInt8>, at place: PayloadPosition, matching filter: Pattern?,
        with parser: JSONParser
    ) throws(Rejection) -> Decision? {
        let body = try parser.read(event: event, at: place)
        guard try filter?.selects(body, at: place) ?? true else { return nil }
        return try decision(on: body, at: place)
    }

    /// The routing decision on a parsed event. Translates ``RoutingTooCostly`` into the rejection
    /// `payload-too-costly`.
    package func decision(on event: JSONValue, at place: PayloadPosition) throws(Rejection) -> Decision {
        do throws(RoutingTooCostly) { return try decide(event) } catch { throw .tooCostly(at: place) }
    }
}

extension Pattern {
    /// True if the pattern matches the bytes of an event. `place`: the position of its payload, for a rejection. Used
    /// to select recorded payloads for an upload.
    func selects(
        _ event: UnsafeBufferPointer<UInt8>, at place: PayloadPosition, with parser: JSONParser
    ) throws(Rejection) -> Bool { try selects(try parser.read(event: event, at: place), at: place) }

    /// Translates ``RoutingTooCostly`` into a rejection of the payload.
    fileprivate func selects(_ event: JSONValue, at place: PayloadPosition) throws(Rejection) -> Bool {
        do throws(RoutingTooCostly) { return try matches(event) } catch { throw .tooCostly(at: place) }
    }
}

extension RoutedEvent {
    /// An event with the deliveries of a decision. `body`: the parsed event. `files`: files to keep while a delivery
    /// waits. `followers`: events that are committed together with this one. `about`: the event that it reports on.
    convenience init(
        _ event: Event, _ decision: RouteTable.Decision, in body: JSONValue, variants: EventVariants,
        files: [MediaFile] = [], dedupe: Dedupe? = nil, hasLastingID: Bool = false, followers: [RoutedEvent] = [],
        about: String? = nil
    ) {
        var orders: [DeliveryOrder] = []
        orders.reserveCapacity(decision.targets.count)
        var list = VariantList(event, body, by: variants)
        let hasMedia = !decision.media.isEmpty
        for target in decision.targets {
            var order = DeliveryOrder(to: target, from: event.notBefore, to: event.notAfter)
            if hasMedia, case .stored(let wait) = target.media {
                order.mediaUntil = event.acceptedAt.addingTimeInterval(wait / .seconds(1))
                if target.variant?.transform != nil { order.transformRoute = target.route }
            }
            order.variant = list.variant(for: target, awaitsMedia: order.mediaUntil != nil)
            orders.append(order)
        }
        self.init(
            event: event, routes: decision.routes, deliveries: orders,
            payload: decision.wantsPayload ? event.payload : nil, variants: list.variants,
            media: hasMedia ? MediaWait(urls: decision.media) : nil, files: files, dedupe: dedupe,
            hasLastingID: hasLastingID, followers: followers, messages: event.messages, about: about)
    }
}

/// A routing decision that is the same for every event. It skips the parsing of events, which saves most of the
/// routing time on a simple config.
struct UniformRouting: Sendable {
    private let decision: RouteTable.Decision
    /// The deliveries of an event without a schedule.
    private let orders: [DeliveryOrder]

    /// The decision must come from ``RouteTable/uniformDecision``.
    init(_ decision: RouteTable.Decision) {
        self.decision = decision
        orders = decision.targets.map { DeliveryOrder(to: $0.destination) }
    }

    /// Assigns an event its deliveries; a rejection is returned unchanged. Checks only the size of the event. Never
    /// waits and never throws.
    func route(_ result: consuming Result<Event, Rejection>) -> Result<RoutedEvent, Rejection> {
        switch consume result {
        case .failure(let rejection): return .failure(rejection)
        case .success(let event):
            do throws(Rejection) {
                try ParserPool.check(eventOf: event.body.count, at: PayloadPosition())
            } catch { return .failure(error) }
            // Read the event before it moves into the result: an argument or a closure that still reads it forces a
            // copy.
            let deliveries = deliveries(from: event.notBefore, to: event.notAfter)
            let payload = decision.wantsPayload ? event.payload : nil
            let messages = event.messages
            return .success(
                RoutedEvent(
                    event: event, routes: decision.routes, deliveries: deliveries, payload: payload,
                    messages: messages))
        }
    }

    /// The deliveries of an event with this schedule.
    private func deliveries(from start: Date?, to end: Date?) -> [DeliveryOrder] {
        guard start != nil || end != nil else { return orders }
        return decision.targets.map { DeliveryOrder(to: $0, from: start, to: end) }
    }
}

extension DeliveryOrder {
    /// `start` and `end`: the event's schedule. Leaves out the parts that the route ignores (`ignoring`).
    fileprivate init(to target: RouteTable.Target, from start: Date?, to end: Date?) {
        self.init(
            to: target.destination, notBefore: target.ignoring.contains(.notBefore) ? nil : start,
            notAfter: target.ignoring.contains(.notAfter) ? nil : end, orderKey: target.orderKey)
    }
}

extension RoutedEvent.Dedupe {
    /// Nil if the event has no value at the key: it is not a repeat. The window starts at the event's own acceptance.
    /// The key is a SHA-256 of the value's text. Values other than strings get the prefix 0xFF, which UTF-8 does not
    /// use, so that `5` and `"5"` differ.
    fileprivate init?(_ dedupe: GatewayConfig.Dedupe, of event: Event, _ body: JSONValue) {
        guard let value = dedupe.key.value(in: body), !value.isNull else { return nil }
        let bytes: [UInt8] =
            if let text = value.string { Array(text.utf8) } else { [0xFF] + JSONText(value).bytes }
        self.init(
            // A digest, because the value may be long or private.
            key: hexadecimal(sha256(bytes)),
            since: event.acceptedAt.addingTimeInterval(-(dedupe.window / .seconds(1))))
    }
}
