package import SignalboxGateway
import SignalboxJSON
import SignalboxServer
package import SignalboxStore

/// Prints deliveries, for `signalbox deliveries list` and `show`.
package struct DeliveryListing: Sendable {
    private let queue: any InspectionStore
    private let waits: DeliveryWaits

    /// `waits`: explains why deliveries wait.
    package init(_ queue: any InspectionStore, _ waits: DeliveryWaits) { (self.queue, self.waits) = (queue, waits) }

    /// A row or an object for each delivery, the newest first. An empty result has the heading only. `limit`: at
    /// least 1.
    package func list(_ filter: DeliveryFilter, limit: Int, asJSON: Bool, print: (String) -> Void) async throws {
        let records = try await queue.deliveries(filter, limit: limit)
        if !asJSON { print(DeliveryWaits.heading) }
        for record in records { print(asJSON ? record.json(waits.wait(of: record)) : waits.row(record)) }
    }

    /// One delivery: one object with its attempts, or an object for the delivery, each attempt and the event as
    /// stored. The event is left out if it is removed between the reads. Throws for an unknown number.
    package func show(_ id: Int64, asOneObject: Bool, print: (String) -> Void) async throws {
        guard let record = try await queue.deliveries(DeliveryFilter(ids: [id]), limit: 1).first else {
            throw CommandFailure.incomplete("There is no delivery \(id). List them with: signalbox deliveries list.")
        }
        let (wait, attempts) = (waits.wait(of: record), try await queue.attempts(of: id))
        if asOneObject { return print(JSONText.value { $0.delivery(record, wait: wait, attempts: attempts) }) }
        print(record.json(wait))
        for attempt in attempts { print(attempt.json) }
        if let body = try await queue.eventRecord(record.event)?.body { print(String(decoding: body, as: UTF8.self)) }
    }
}
