import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// Names that the config does not have, and the queue may have.
struct KnownNamesTests {
    private let config = GatewayConfig()
    private let crm = DestinationName("crm")

    private func withQueue(_ body: (SQLiteQueue) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in try await body(try SQLiteQueue(in: directory)) }
    }

    private func pause(_ queue: SQLiteQueue) async throws {
        try await queue.set(
            .paused, of: crm, until: nil,
            as: .command("destinations.pause", target: "crm", until: nil, reason: nil))
    }

    @Test func kindsOfTheAPIAreKnown() async throws {
        try await withQueue { queue in
            for kind in ["alert", "modal", "no-match", "rejected"] {
                try await KnownNames.check(kind: kind, config, queue)
                await #expect(throws: CommandFailure.self) {
                    try await KnownNames.check(kind: "\(kind)x", config, queue)
                }
            }
            try await KnownNames.check(kind: nil, config, queue)
        }
    }

    @Test func aDestinationIsTheKindOfItsDeadLetters() async throws {
        try await withQueue { queue in
            await #expect(throws: CommandFailure.self) { try await KnownNames.check(kind: "crm", config, queue) }
            var configured = GatewayConfig()
            configured.destinations = [Destination(name: crm, endpoint: .inbox)]
            try await KnownNames.check(kind: "crm", configured, queue)
        }
    }

    @Test func vendorsOfStoredEventsAreKnown() async throws {
        try await withQueue { queue in
            for vendor in ["braze", "unknown", "destination", "apns", "fcm"] {
                try await KnownNames.check(vendor: vendor, config, queue)
            }
            let refusal = CommandFailure.refused(
                "Unknown vendor \"no-such-vendor\". Run signalbox vendors for the list.")
            await #expect(throws: refusal) { try await KnownNames.check(vendor: "no-such-vendor", config, queue) }
            let event = Event(
                id: EventID(at: Date(), random: (1, 2)), source: .default, acceptedAt: Date(),
                vendor: VendorID("no-such-vendor"), kind: .alert, warnings: [], body: Array("{}".utf8))
            try await queue.append([RoutedEvent(event: event, routes: [], deliveries: [])])
            try await KnownNames.check(vendor: "no-such-vendor", config, queue)
        }
    }

    @Test func aPausedDestinationThatLeftTheConfigCanBeResumed() async throws {
        try await withQueue { queue in
            let refusal = CommandFailure.refused("Unknown destination \"crm\". routes.json has none of that name.")
            await #expect(throws: refusal) {
                try await DestinationWork.resumable("crm", in: config, queue, "routes.json")
            }
            try await pause(queue)
            let name = try await DestinationWork.resumable("crm", in: config, queue, "routes.json")
            #expect(name == crm)
            let line = try await DestinationWork.resume(name, reason: nil, in: queue, asJSON: false)
            #expect(line == "crm resumed.")
            #expect(try await queue.statuses().isEmpty)
        }
    }
}
