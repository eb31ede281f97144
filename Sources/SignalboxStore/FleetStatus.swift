package import Foundation

/// The place of this process among the nodes of a shared store, and the counts of all of them.
package struct FleetStatus: Sendable, Equatable {
    /// Deliveries that this node leases or keeps in memory.
    package var held = 0
    /// How long ago the last heartbeat was sent that the store confirmed; nil for none. A node begins no attempt once
    /// it is older than 12 seconds.
    package var heartbeatAge: Duration?
    /// Settlements of leases that were lost, since the start.
    package var lost = 0
    /// Leases that this node took over from nodes that were gone, since the start.
    package var takenOver = 0
    /// Commits whose outcome had to be found out after the connection was lost, since the start.
    package var unknownCommits = 0
    /// How long live nodes have had different configs; nil while they are equal.
    package var configsDifferFor: Duration?
    /// The last counts of the fleet; nil before the first.
    package var report: FleetReport?

    /// How long configs may differ before a warning: nodes are updated one after the other.
    package static let configGrace: Duration = .seconds(300)

    package init() {}
}

/// Counts of the whole store, which one node takes every few seconds.
package struct FleetReport: Sendable, Equatable {
    /// When they were taken, by the store's clock.
    package let at: Date
    /// Live nodes, and their distinct configs.
    package let nodes: Int
    package let configs: Int
    /// Stored deliveries that wait, and dead ones.
    package let waiting: Int
    package let dead: Int
    /// When the oldest due delivery that no node holds became due; nil for none.
    package let oldestDue: Date?
    /// Dead rows of the table of waiting deliveries, as the server estimates them.
    package let deadRows: Int
    /// The age of the oldest snapshot that keeps dead rows from being removed, in transactions.
    package let oldestSnapshot: Int

    package init(
        at: Date, nodes: Int, configs: Int, waiting: Int, dead: Int, oldestDue: Date?, deadRows: Int,
        oldestSnapshot: Int
    ) {
        (self.at, self.nodes, self.configs, self.waiting, self.dead) = (at, nodes, configs, waiting, dead)
        (self.oldestDue, self.deadRows, self.oldestSnapshot) = (oldestDue, deadRows, oldestSnapshot)
    }
}

extension StoreStatus {
    package var fleet: FleetStatus? { nil }
    package func announce(config digest: String, version: String) {}
}
