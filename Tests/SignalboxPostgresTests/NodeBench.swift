import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Two nodes, and short forms of common steps.
enum NodeBench {
    static let crm = DestinationName("crm")

    /// Two nodes on one location, each with a lane.
    static func withNodes(
        isOrdered: Bool = false, _ body: (PostgresStore, PostgresStore) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let nodes = try (0..<2).map { _ in try PostgresStore(location.target, now: { clock.now }) }
            for node in nodes { node.openLane(crm, isOrdered: isOrdered) {} }
            try await body(nodes[0], nodes[1])
        }
    }

    /// Declares a node gone, as another one does after its lifetime, and returns once its deliveries are free. Returns
    /// their number.
    @discardableResult
    static func end(_ store: PostgresStore) throws -> Int {
        // A heartbeat in progress would count as one of the present.
        store.heartbeat.finish()
        let node = try store.membership.current()
        let connection = try PostgresConnection(store.target)
        func held() throws -> Int {
            try connection.run("SELECT FROM queue WHERE holder = $1", [.number(node)]).count
        }
        let count = try held()
        _ = try connection.run(
            "UPDATE nodes SET seen_at = seen_at - interval '1 hour' WHERE id = $1", [.number(node)])
        // The heartbeat of another node may be about to free some of them.
        var isGone = false
        while try !isGone || held() > 0 {
            _ = try Takeover(connection).run(
                silent: [node], absent: isGone ? [node] : [], until: .now + .seconds(9))
            isGone = try connection.run("SELECT FROM nodes WHERE id = $1 AND is_live", [.number(node)]).isEmpty
        }
        return count
    }

    static func event(
        _ number: Int, under key: String? = nil, to destination: DestinationName = crm
    ) -> RoutedEvent {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let event = Event(
            id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], body: Array(String(number).utf8))
        return RoutedEvent(event: event, routes: [], deliveries: [DeliveryOrder(to: destination, orderKey: key)])
    }
}

extension PostgresStore {
    /// Runs a statement without arguments on a connection of its own.
    func exec(_ sql: String) throws { _ = try PostgresConnection(target).run(sql) }
}
