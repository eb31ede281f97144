package import Foundation
package import SignalboxGateway
package import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

/// Answers why an event reached a destination or did not, for `signalbox events show --destination`.
package struct EventAnswer: Sendable {
    private let detail: EventDetail
    private let destination: DestinationName

    package init(_ detail: EventDetail, _ destination: DestinationName) {
        self.detail = detail
        self.destination = destination
    }

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

    private var sentence: String {
        let states = Set(deliveries.map(\.state))
        if states.contains(.delivered) { return "The event reached \(destination)." }
        if states.contains(.waiting) { return "The event has not reached \(destination) yet." }
        if states.contains(.dead) {
            return "The event did not reach \(destination): it is a dead letter. "
                + "Requeue it with: signalbox deliveries retry \(deliveries.last?.id ?? 0)"
        }
        if states.contains(.expired) { return "The event did not reach \(destination): it expired." }
        return "The event did not reach \(destination): it has no delivery to it."
    }

    /// The reasons of the routes that name the destination, as they would decide today.
    private var routes: [String] {
        guard let trial = detail.routes else { return ["  The routes are too costly to evaluate."] }
        let named = trial.routes.filter { $0.destinations.contains(destination) }
        guard !named.isEmpty else { return ["  No route of the present config names \(destination)."] }
        let reasons = named.map { "  route \($0.name): \($0.verdict.words)" }
        guard named.contains(where: { $0.verdict == .taken }) else { return reasons }
        return reasons + [
            "  The present config differs from the one that routed the event, or the delivery was purged."
        ]
    }
}
