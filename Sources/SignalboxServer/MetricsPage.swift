import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// The gateway's figures in Prometheus' text format, version 0.0.4. Labels are names of the config.
struct MetricsPage {
    let text: String

    init(
        gauges: [DestinationName: DestinationGauges], statuses: [DestinationName: DestinationStatus],
        destinations: [DestinationName], media: MediaGauges,
        routes: [(name: String, count: RouteCounts.Count)], config: ActiveConfigStatus, now: Date
    ) {
        let names = Set(destinations).union(gauges.keys).sorted()
        func series(_ name: String, _ type: String, _ help: String, _ value: (DestinationName) -> Double) -> String {
            var lines = "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
            for destination in names {
                let number = value(destination)
                let spelled = number == number.rounded() ? String(Int64(number)) : String(number)
                lines += "\(name){destination=\"\(destination.name)\"} \(spelled)\n"
            }
            return lines
        }
        text =
            series("signalbox_deliveries_accepted_total", "counter", "Deliveries ever made.") {
                Double(gauges[$0]?.accepted ?? 0)
            }
            + series("signalbox_deliveries_waiting", "gauge", "Deliveries that have not ended.") {
                Double(gauges[$0]?.waiting ?? 0)
            }
            + series("signalbox_deliveries_dead", "gauge", "Dead letters.") { Double(gauges[$0]?.dead ?? 0) }
            + series(
                "signalbox_oldest_due_seconds", "gauge",
                "How long the delivery that has been due longest has been due."
            ) { name in gauges[name]?.oldestDue.map { max(0, now.timeIntervalSince($0)) } ?? 0 }
            + series(
                "signalbox_destination_up", "gauge",
                "1 while a destination accepts deliveries, 0 while it is paused, disabled or failing, or permits none."
            ) { statuses[$0]?.isDown ?? false ? 0 : 1 }
            + Self.states(names, statuses)
            + Self.series("signalbox_route_matched_total", "Events that a route took since the start.", routes) {
                $0.matched
            }
            + Self.series(
                "signalbox_route_failed_total", "Events of which a route's transformation made nothing.", routes
            ) { $0.failed }
            + Self.media(media) + Self.config(config)
    }

    /// One series for each state: 1 for the present one, 0 for the others.
    private static func states(_ names: [DestinationName], _ statuses: [DestinationName: DestinationStatus]) -> String {
        let name = "signalbox_destination_state"
        var lines = "# HELP \(name) 1 for the state that a destination is in.\n# TYPE \(name) gauge\n"
        for destination in names {
            let present = statuses[destination]?.word ?? "active"
            for word in DestinationStatus.words {
                lines += "\(name){destination=\"\(destination.name)\",state=\"\(word)\"} \(word == present ? 1 : 0)\n"
            }
        }
        return lines
    }

    /// Named as Prometheus names its own.
    private static func config(_ status: ActiveConfigStatus) -> String {
        let seconds = Timestamp(status.since).milliseconds
        return """
            # HELP signalbox_config_last_reload_successful 1 while the newest config is in force, 0 while it is refused.
            # TYPE signalbox_config_last_reload_successful gauge
            signalbox_config_last_reload_successful \(status.rejection == nil ? 1 : 0)
            # HELP signalbox_config_last_reload_success_timestamp_seconds When the config in force was read.
            # TYPE signalbox_config_last_reload_success_timestamp_seconds gauge
            signalbox_config_last_reload_success_timestamp_seconds \(Double(seconds) / 1000)

            """
    }

    private static func media(_ gauges: MediaGauges) -> String {
        func header(_ name: String, _ help: String) -> String { "# HELP \(name) \(help)\n# TYPE \(name) gauge\n" }
        func single(_ name: String, _ help: String, _ value: Int64) -> String {
            header(name, help) + "\(name) \(value)\n"
        }
        let urls = [("wanted", gauges.wanted), ("stored", gauges.stored), ("failed", gauges.failed)]
        return header("signalbox_media_urls", "URLs of media that are known, by what became of them.")
            + urls.map { "signalbox_media_urls{state=\"\($0)\"} \($1)\n" }.joined()
            + single("signalbox_media_files", "Files that are kept.", Int64(gauges.files))
            + single("signalbox_media_bytes", "Bytes of all files that are kept.", gauges.bytes)
            + single("signalbox_deliveries_held", "Deliveries that wait for media.", Int64(gauges.held))
    }

    private static func series(
        _ name: String, _ help: String, _ routes: [(name: String, count: RouteCounts.Count)],
        _ value: (RouteCounts.Count) -> Int
    ) -> String {
        var lines = "# HELP \(name) \(help)\n# TYPE \(name) counter\n"
        for route in routes { lines += "\(name){route=\"\(escaped(route.name))\"} \(value(route.count))\n" }
        return lines
    }

    /// A route may have any name.
    private static func escaped(_ label: String) -> String {
        label.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
