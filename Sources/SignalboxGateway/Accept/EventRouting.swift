import Foundation
package import SignalboxConfig
import SignalboxEgress
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting
import SignalboxStore

extension RouteTable {
    /// Gives an event the destinations that the routes name, deciding over its bytes as they will be delivered; a
    /// rejection stays one. `parser`: from ``ParserPool/forEvents()``.
    package func route(
        _ result: Result<Event, Rejection>, with parser: JSONParser, shaping: EventShaping,
        dedupe: GatewayConfig.Dedupe? = nil
    ) -> Result<RoutedEvent, Rejection> {
        result.flatMap { event in
            Result { () throws(Rejection) in
                let body = try parser.read(event, at: Place())
                let dedupe = dedupe.flatMap { RoutedEvent.Dedupe($0, of: event, body) }
                return RoutedEvent(
                    event, try decision(on: body, at: Place()), in: body, shaping: shaping, dedupe: dedupe)
            }
        }
    }

    /// As above, for an event of a recording; nil when `filter` does not match it. `hasLastingID`: whether the same payload
    /// of the same recording gets the same id every time.
    package func route(
        _ event: Event, at place: Place, matching filter: Pattern?, hasLastingID: Bool, with parser: JSONParser,
        shaping: EventShaping
    ) throws(Rejection) -> RoutedEvent? {
        let body = try parser.read(event, at: place)
        guard try filter?.selects(body, at: place) ?? true else { return nil }
        return RoutedEvent(
            event, try decision(on: body, at: place), in: body, shaping: shaping, hasLastingID: hasLastingID)
    }

    /// The routes' decision on an event. `place`: of the payload it was made from, for a rejection.
    package func decision(on event: JSONValue, at place: Place) throws(Rejection) -> Decision {
        do throws(RoutingTooCostly) {
            return try decide(event)
        } catch {
            throw .tooCostly(at: place)
        }
    }
}

extension Pattern {
    /// Whether the pattern matches the event. `place`: of the payload it was made from, for a rejection.
    package func selects(_ event: JSONValue, at place: Place) throws(Rejection) -> Bool {
        do throws(RoutingTooCostly) {
            return try matches(event)
        } catch {
            throw .tooCostly(at: place)
        }
    }
}

extension RoutedEvent {
    /// An event with the deliveries that a decision gives it. `body`: the event, as it was read for the decision.
    convenience init(
        _ event: Event, _ decision: RouteTable.Decision, in body: JSONValue, shaping: EventShaping,
        files: [MediaFile] = [], dedupe: Dedupe? = nil, hasLastingID: Bool = false, followers: [RoutedEvent] = []
    ) {
        var orders: [DeliveryOrder] = []
        orders.reserveCapacity(decision.targets.count)
        var forms = EventForms(event, body, shaping: shaping)
        let hasMedia = !decision.media.isEmpty
        for target in decision.targets {
            var order = DeliveryOrder(of: event, to: target)
            if hasMedia, case .stored(let wait) = target.media {
                order.mediaUntil = event.acceptedAt.addingTimeInterval(wait / .seconds(1))
                if target.shape?.transform != nil { order.shape = target.route }
            }
            order.variant = forms.variant(for: target, awaitsMedia: order.mediaUntil != nil)
            orders.append(order)
        }
        self.init(
            event: event, routes: decision.routes, deliveries: orders,
            payload: decision.wantsPayload ? event.payload : nil, variants: forms.variants,
            media: hasMedia ? MediaWait(urls: decision.media) : nil, files: files, dedupe: dedupe,
            hasLastingID: hasLastingID, followers: followers)
    }
}

/// A decision that is the same for every event.
struct UniformRouting: Sendable {
    private let decision: RouteTable.Decision
    /// Of an event with no schedule.
    private let orders: [DeliveryOrder]

    init(_ decision: RouteTable.Decision) {
        self.decision = decision
        orders = decision.targets.map { DeliveryOrder(to: $0.destination) }
    }

    /// Gives an event its destinations; a rejection stays one.
    func route(_ result: consuming Result<Event, Rejection>) -> Result<RoutedEvent, Rejection> {
        switch consume result {
        case .failure(let rejection): return .failure(rejection)
        case .success(let event):
            do throws(Rejection) {
                try ParserPool.check(eventOf: event.body.count, at: Place())
            } catch {
                return .failure(error)
            }
            let hasSchedule = event.notBefore != nil || event.notAfter != nil
            let deliveries = hasSchedule ? decision.targets.map { DeliveryOrder(of: event, to: $0) } : orders
            let payload = decision.wantsPayload ? event.payload : nil
            return .success(
                RoutedEvent(event: event, routes: decision.routes, deliveries: deliveries, payload: payload))
        }
    }
}

extension DeliveryOrder {
    fileprivate init(of event: Event, to target: RouteTable.Target) {
        self.init(
            to: target.destination, notBefore: target.ignoring.contains(.notBefore) ? nil : event.notBefore,
            notAfter: target.ignoring.contains(.notAfter) ? nil : event.notAfter, orderKey: target.orderKey)
    }
}

extension RoutedEvent.Dedupe {
    /// Nil for an event that has nothing under the key: it repeats none.
    fileprivate init?(_ dedupe: GatewayConfig.Dedupe, of event: Event, _ body: JSONValue) {
        guard let value = dedupe.key.value(in: body), !value.isNull else { return nil }
        self.init(
            // A digest: what stands there may be long, or nobody's business.
            key: hexadecimal(sha256(Array((value.string ?? JSONText(value).string).utf8))),
            since: event.acceptedAt.addingTimeInterval(-(dedupe.window / .seconds(1))))
    }
}
