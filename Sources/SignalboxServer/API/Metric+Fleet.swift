import Foundation
import SignalboxStore

/// Metrics of several gateways that share a PostgreSQL database. Without one, they have no samples.
extension Metric {
    /// First those of this node, then those of all nodes, which one node counts every ten seconds for all.
    static let fleet: [Metric] = [
        node("signalbox_node_deliveries_held", .gauge, "Deliveries that this node leases or keeps in memory.") {
            Double($0.held)
        },
        node(
            "signalbox_node_heartbeat_age_seconds", .gauge,
            "Time since this node sent its last confirmed heartbeat. From 12 seconds on, the node begins no attempt."
        ) { $0.heartbeatAge.map { $0 / .seconds(1) } },
        node(
            "signalbox_node_leases_lost_total", .counter,
            "Outcomes since the start that were not recorded because another node had taken the delivery over."
        ) { Double($0.lost) },
        node(
            "signalbox_node_leases_taken_over_total", .counter,
            "Leases since the start that this node took over from nodes that were gone."
        ) { Double($0.takenOver) },
        node(
            "signalbox_node_unknown_commits_total", .counter,
            "Commits since the start whose outcome had to be found out after the connection was lost."
        ) { Double($0.unknownCommits) },
        report("signalbox_fleet_nodes", "Live gateways that share the database.") { report, _ in
            Double(report.nodes)
        },
        report("signalbox_fleet_configs", "Distinct configs of the live gateways.") { report, _ in
            Double(report.configs)
        },
        report("signalbox_fleet_deliveries_waiting", "Waiting deliveries of all gateways.") { report, _ in
            Double(report.waiting)
        },
        report("signalbox_fleet_deliveries_dead", "Stored dead letters of all gateways.") { report, _ in
            Double(report.dead)
        },
        report(
            "signalbox_fleet_oldest_due_seconds",
            "Age of the oldest due delivery that no gateway holds; 0 when none is due."
        ) { report, now in report.oldestDue.map { now.timeIntervalSince($0) } ?? 0 },
        report(
            "signalbox_fleet_queue_dead_rows",
            "Dead rows in the table of waiting deliveries, as PostgreSQL estimates them."
        ) { report, _ in Double(report.deadRows) },
        report(
            "signalbox_fleet_oldest_snapshot_transactions",
            "Age of the oldest snapshot that keeps dead rows from being removed, in transactions."
        ) { report, _ in Double(report.oldestSnapshot) },
    ]

    /// Without a sample in a store of one process, and while the value is unknown.
    private static func node(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (FleetStatus) -> Double?
    ) -> Metric {
        Metric(name, kind, [], help) { values in values.fleet.flatMap(value).map { [([], $0)] } ?? [] }
    }

    /// Without a sample until this node has read the first report of the fleet, and while the database cannot be read,
    /// because the last report may no longer hold then.
    private static func report(
        _ name: String, _ help: String, _ value: @escaping @Sendable (FleetReport, Date) -> Double
    ) -> Metric {
        Metric(name, .gauge, [], help) { values in
            guard values.queue != nil, let report = values.fleet?.report else { return [] }
            return [([], value(report, values.now))]
        }
    }
}
