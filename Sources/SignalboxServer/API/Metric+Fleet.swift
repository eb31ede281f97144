import SignalboxStore

/// Metrics of several nodes on one database. Without samples for the embedded queue.
extension Metric {
    /// Those of the fleet are the same from all nodes.
    static let fleet: [Metric] = [
        read("signalbox_fleet_nodes", .gauge, "Live gateways of the database.") { Double($0.nodes) },
        read("signalbox_fleet_configs", .gauge, "Different configs among the live gateways; 1 is normal.") {
            Double($0.configs)
        },
        read("signalbox_fleet_queue_dead_rows", .gauge, "Removed rows of the queue that await a vacuum.") {
            Double($0.deadRows)
        },
        read(
            "signalbox_fleet_oldest_transaction_seconds", .gauge,
            "Age of the oldest transaction that keeps removed rows, as far as the gateway's role sees it."
        ) { Double($0.oldestTransaction) },
        read("signalbox_node_held_deliveries", .gauge, "Deliveries that this gateway holds.") { Double($0.held) },
        read("signalbox_node_lease_age_seconds", .gauge, "Time since the last confirmed heartbeat of this gateway.") {
            $0.leaseAge
        },
        read(
            "signalbox_node_leases_taken_over_total", .counter,
            "Leases of other gateways that this one freed since its start."
        ) { Double($0.takenOver) },
        read(
            "signalbox_node_unknown_commits_total", .counter,
            "Commits whose connection was lost and whose outcome had to be found out, since the start."
        ) { Double($0.unknownCommits) },
    ]

    private static func read(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (FleetState) -> Double?
    ) -> Metric {
        Metric(name, kind, [], help) { values in values.fleet.flatMap(value).map { [([], $0)] } ?? [] }
    }
}
