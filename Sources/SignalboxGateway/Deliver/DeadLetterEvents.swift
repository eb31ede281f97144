import Foundation
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
    private let variants: EventVariants

    /// `variants`: makes the variants of events that routes define. `gateway`: the name in the events' `source`.
    /// `routes`: only their patterns that name a `type` match such events.
    package init(gateway: String, routes: RouteTable, variants: EventVariants) {
        events = OperationalEvent(gateway: gateway)
        (self.routes, self.variants) = (routes, variants)
    }

    /// The members of the event's data.
    static let members = ["attempts", "delivery", "destination", "event", "reason", "status", "subject"]

    /// Nil if no route matches. The lane settles the delivery and stores this event in one transaction. `status`:
    /// HTTP status of the last answer; nil without one. Counts the matches of routes at once.
    func event(about lease: Lease, status: Int?, reason: String, at now: Date) -> RoutedEvent? {
        // A body that cannot be parsed is not such an event, and has no subject.
        let body = EventDocument(lease.body)
        if body?.text("type") == OperationalEvent.EventType.deliveryDead.rawValue { return nil }
        let event = events.event(.deliveryDead, subject: "destination/\(lease.destination)", at: now) { json in
            json.member("delivery", lease.delivery)
            json.member("destination", lease.destination.name)
            json.member("event", lease.event)
            json.member("subject", body?.text("subject"))
            json.member("attempts", lease.earlier + 1)
            json.member("status", status)
            json.member("reason", reason)
        }
        let decision = ParserPool.events.withParser { routes.decideOperational(event.body, with: $0) }
        guard !decision.targets.isEmpty else { return nil }
        return EventDocument(event.body)?.withRoot { root, _ in
            variants.writer.counts.countMatch(of: decision.routes)
            return RoutedEvent(event, decision, in: root, variants: variants)
        }
    }
}
