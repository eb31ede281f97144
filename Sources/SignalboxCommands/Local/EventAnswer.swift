package import Foundation
package import SignalboxGateway
import SignalboxJSON
package import SignalboxNotification
import SignalboxRouting
import SignalboxServer
package import SignalboxStore

/// Answers why an event reached a destination or did not, for `signalbox events show --destination`.
package struct EventAnswer: Sendable {
    private let detail: EventDetail
    private let destination: DestinationName

    /// `destination`: any name; one without deliveries is a valid question.
    package init(_ detail: EventDetail, _ destination: DestinationName) {
        (self.detail, self.destination) = (detail, destination)
    }

    /// Those to this destination. Manual ones count too.
    private var deliveries: [DeliveryRecord] { detail.deliveries.filter { $0.destination == destination } }

    /// The answer as a sentence, then the deliveries with their attempts, or the routes that name the destination.
    /// Lines have no line end. Control characters become spaces.
    package func lines(attempts: [Int64: [AttemptRecord]], waits: DeliveryWaits, now: Date = Date()) -> [String] {
        guard !deliveries.isEmpty else { return ([sentence] + routes).map { EventLine.printable($0) } }
        let rows = deliveries.flatMap { delivery in
            ["  " + waits.row(delivery, now: now)] + (attempts[delivery.id] ?? []).map { "    " + $0.line }
        }
        return ([sentence] + rows).map { EventLine.printable($0) }
    }

    /// The same answer as one object: `{"event":…,"destination":…,"answer":…,"deliveries":[…]}`. It has `routes` if
    /// there are no deliveries.
    package func json(attempts: [Int64: [AttemptRecord]], waits: DeliveryWaits) -> String {
        JSONText.members { json in
            json.member("event", detail.record.id)
            json.member("destination", destination.name)
            json.member("answer", sentence)
            json.array("deliveries", of: deliveries) { json, delivery in
                json.delivery(delivery, wait: waits.wait(of: delivery), attempts: attempts[delivery.id] ?? [])
            }
            guard deliveries.isEmpty else { return }
            json.objects("routes", of: namedRoutes) { json, route in
                json.member("name", route.name)
                json.member("taken", route.verdict == .taken)
                json.member("reason", route.verdict.words)
            }
        }
    }

    /// A delivery that succeeded decides; otherwise a waiting, a dead or an expired delivery, in this order.
    private var sentence: String {
        let states = Set(deliveries.map(\.state))
        if states.contains(.delivered) { return "The event reached \(destination)." }
        if states.contains(.waiting) { return "The event has not reached \(destination) yet." }
        if states.contains(.dead) {
            return "The event did not reach \(destination): it is a dead letter. "
                + "Requeue it with: signalbox deliveries retry \(deliveries.last?.id ?? 0)"
        }
        if states.contains(.expired) { return "The event did not reach \(destination): it expired." }
        return "The event did not reach \(destination): it has no delivery there."
    }

    /// Matching or not, in the order of evaluation. Empty if the routes could not be evaluated.
    private var namedRoutes: [RouteTrial.Entry] {
        detail.routes?.routes.filter { $0.destinations.contains(destination) } ?? []
    }

    /// The reasons of the routes that name the destination, as they would decide today.
    private var routes: [String] {
        guard detail.routes != nil else { return ["  The routes are too costly to evaluate."] }
        let named = namedRoutes
        guard !named.isEmpty else { return ["  No route of the active config names \(destination)."] }
        let reasons = named.map { "  route \($0.name): \($0.verdict.words)" }
        guard named.contains(where: { $0.verdict == .taken }) else { return reasons }
        return reasons + [
            "  The active config differs from the one that routed the event, or the delivery was purged."
        ]
    }
}
