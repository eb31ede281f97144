import Foundation
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting

/// A schema with several nodes, and statements that act behind their back.
struct OperatorBench {
    static let crm = DestinationName("crm")
    static let inbox = DestinationName("inbox")

    let location: PostgresLocation
    let clock = ManualDate()

    static func with(_ body: (OperatorBench) async throws -> Void) async throws {
        try await PostgresLocation.withLocation { try await body(OperatorBench(location: $0)) }
    }

    /// A node of its own, with lanes.
    func node() throws(StoreError) -> any Store {
        let node = try location.openBeside(clock)
        node.openLane(Self.crm) {}
        node.openLane(Self.inbox) {}
        return node
    }

    /// Runs a statement on a connection of its own.
    func run(_ sql: String) throws { try PostgresAdmin(location.target).run(sql) }

    func event(_ number: Int, to destinations: [DestinationName] = [crm], size: Int = 0) -> RoutedEvent {
        let event = Event(
            id: EventID(at: clock.now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: clock.now, vendor: .unknown, kind: .alert, warnings: [],
            body: Array(String(number).utf8) + Array(repeating: 32, count: size))
        return RoutedEvent(event: event, routes: [], deliveries: destinations.map { DeliveryOrder(to: $0) })
    }

    /// Appends events with deliveries that are all dead.
    func addDead(_ count: Int, to destinations: [DestinationName] = [crm], _ node: any Store) async throws {
        try await node.append((0..<count).map { event($0, to: destinations) })
        for destination in destinations {
            var left = count
            while left > 0 {
                let leases = try await node.claim(from: destination, upTo: 500)
                guard !leases.isEmpty else { break }
                for lease in leases { try await node.settle(lease, .dead(status: 400, reason: "refused")) }
                left -= leases.count
            }
        }
    }
}
