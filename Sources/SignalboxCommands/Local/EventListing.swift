import Foundation
package import SignalboxConfig
package import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxServer
package import SignalboxStore

/// Prints stored events, for `signalbox events list` and `show`.
package struct EventListing: Sendable {
    private let queue: any Store
    private let config: GatewayConfig

    /// `config`: has the vendors and the destinations that the command line may name.
    package init(_ queue: any Store, _ config: GatewayConfig) { (self.queue, self.config) = (queue, config) }

    /// A row or an object for each event, the newest first. An empty table has the heading only, empty JSON no line.
    /// `limit`: at least 1. Throws for an unknown vendor or kind, and for invalid conditions.
    package func list(_ search: EventSearch, limit: Int, asJSON: Bool, print: (String) -> Void) async throws {
        try await KnownNames.check(vendor: search.vendor, config, queue)
        try await KnownNames.check(kind: search.kind, config, queue)
        let filter = try search.filter(now: Date())
        FilterCheck.warnings(about: search.pattern, vendors: Set(config.vendorNames)).forEach(StandardError.warn)
        if !asJSON { print(EventTable.heading) }
        try await EventSearch.newest(limit, filter, in: queue) { record in
            print(asJSON ? JSONText.value { $0.event(record) } : EventTable.row(record))
        }
    }

    /// One event with its routes, deliveries, interactions and files; with `destination`, only why the event reached
    /// that destination or did not. `trials`: evaluates the routes of the config. `isComplete`: false without a config;
    /// then every destination counts as known. Throws for an unknown event or destination.
    package func show(
        _ id: String, to destination: String?, trials: RouteTrials, isComplete: Bool, asJSON: Bool,
        print: (String) -> Void
    ) async throws {
        guard let detail = try await EventDetail(id, in: queue, routes: { trials.trial(of: $0) }) else {
            throw CommandFailure.incomplete(KnownNames.unknownEvent(id))
        }
        try await KnownNames.check(destination: destination, config, queue)
        let waits = DeliveryWaits(isComplete ? config : nil, try await queue.statuses())
        if asJSON, destination == nil { return print(JSONText.value { $0.event(detail) { waits.wait(of: $0) } }) }
        let attempts = try await detail.attempts(in: queue)
        guard let destination else { return detail.lines(attempts: attempts, waits: waits).forEach(print) }
        let answer = EventAnswer(detail, DestinationName(destination))
        if asJSON { return print(answer.json(attempts: attempts, waits: waits)) }
        answer.lines(attempts: attempts, waits: waits).forEach(print)
    }
}
