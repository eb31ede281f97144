import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting
import SignalboxStore

/// Makes an event about every delivery that is moved to dead letters, for routes that match such events by `type`.
///
/// A dead delivery of such an event makes no further event, so there is no loop.
package struct DeadLetterEvents: Sendable {
    private let events: OperationalEvent
    private let routes: RouteTable
    private let variantWriter: EventVariantWriter

    /// `variantWriter`: makes the variants of events that routes define.
    package init(gateway: String, routes: RouteTable, variantWriter: EventVariantWriter) {
        events = OperationalEvent(gateway: gateway)
        self.routes = routes
        self.variantWriter = variantWriter
    }

    /// Nil if no route matches.
    func event(about lease: Lease, status: Int?, reason: String, at now: Date) -> RoutedEvent? {
        let parser = JSONParser.forEvents()
        // A body that cannot be parsed is not such an event, and has no subject.
        let body = try? parser.parse(lease.body)
        if let body, isOperational(body) { return nil }
        let event = events.event(.deliveryDead, subject: "destination/\(lease.destination)", at: now) { json in
            json.key("delivery")
            json.integer(lease.delivery)
            json.key("destination")
            json.string(lease.destination.name)
            json.key("event")
            json.string(lease.event)
            if let subject = body?["subject"]?.string {
                json.key("subject")
                json.string(subject)
            }
            json.key("attempts")
            json.integer(lease.earlier + 1)
            if let status {
                json.key("status")
                json.integer(status)
            }
            json.key("reason")
            json.string(reason)
        }
        let decision = routes.decideOperational(event.body, with: parser)
        guard !decision.targets.isEmpty else { return nil }
        variantWriter.counts.countMatch(of: decision.routes)
        return routed(event, decision)
    }

    private func routed(_ event: Event, _ decision: RouteTable.Decision) -> RoutedEvent {
        var variants: [[UInt8]] = []
        let parser = JSONParser.forEvents()
        let orders = decision.targets.map { target in
            var order = DeliveryOrder(to: target.destination, orderKey: target.orderKey)
            if let variant = variantWriter.variant(of: event.body, for: target, with: parser) {
                order.variant = variants.count
                variants.append(variant)
            }
            return order
        }
        return RoutedEvent(event: event, routes: decision.routes, deliveries: orders, variants: variants)
    }

    private func isOperational(_ event: JSONValue) -> Bool {
        event["type"]?.string == OperationalEvent.EventType.deliveryDead.rawValue
    }
}
