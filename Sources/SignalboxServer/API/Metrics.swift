import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// The values of all metrics at one time. Read at one time for a page, from the queue and from the memory of this
/// process. Values of the queue are those of the last commit; they may differ by a commit from each other.
struct MetricValues: Sendable {
    /// The destinations of the config and of the queue.
    let destinations: [DestinationName]
    /// Destinations that are not active.
    let statuses: [DestinationName: DestinationStatus]
    /// Counts of the queue; none for a destination without deliveries.
    let gauges: [DestinationName: DestinationGauges]
    /// Downloads and stored files.
    let media: MediaGauges
    /// Connections and rejected requests of provider endpoints.
    let providers: ProviderValues
    /// Decisions and messages.
    let inApp: InAppValues
    /// Wrong tokens since the start of the process.
    let failedTokens: [FailedTokens.Endpoint: Int]
    /// Forwarded pushes since the start of the process.
    let forwards: ForwardLedger
    /// Counters since the start of the process, in the order of the config.
    let routes: [(name: String, count: RouteCounts.Count)]
    /// Pushes that failure rules took, in the order of evaluation.
    let failures: [(rule: String, taken: Int)]
    /// The active config, and the last rejected one.
    let config: ActiveConfigStatus
    /// The clock of the queue. Ages are relative to it.
    let now: Date

    /// All metrics in the Prometheus text format, version 0.0.4. Metrics without a sample keep their `HELP` and
    /// `TYPE` lines. Labels have the order of the declaration.
    var page: String {
        Metric.all.map { metric in
            let lines = metric.samples(self).map { sample in
                let labels = zip(metric.labels, sample.labels).map { "\($0)=\"\(Self.escaped($1))\"" }
                let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
                return "\(metric.name)\(list) \(Self.number(sample.value))\n"
            }
            return "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind)\n" + lines.joined()
        }.joined()
    }

    /// All metrics, for the exporter.
    var readings: [MetricReading] {
        Metric.all.map { metric in
            let points = metric.samples(self).map { sample in
                MetricReading.Point(
                    labels: zip(metric.labels, sample.labels).map { (name: $0, value: $1) }, value: sample.value)
            }
            let kind: MetricReading.Kind = metric.kind == .counter ? .counter : .gauge
            return MetricReading(metric.name, metric.help, kind, points: points)
        }
    }

    /// Whole numbers have no fraction. Counts up to 2^53 are exact.
    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int64(value)) : String(value)
    }

    /// Names of routes are arbitrary text. Escapes backslash, quotation mark and line feed, as the text format
    /// requires.
    private static func escaped(_ label: String) -> String {
        label.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

/// A metric. The metrics page and the reference page derive from its declaration. One sample line for each
/// combination of labels, below its help and its type.
package struct Metric: Sendable {
    /// The type in the Prometheus text format.
    package enum Kind: String, Sendable { case counter, gauge }

    /// Ends in `_total` for counters.
    package let name: String
    /// Counters start at 0 with the process or with the queue. A counter of the queue survives restarts; a counter of
    /// the process does not, which Prometheus treats as a reset.
    package let kind: Kind
    /// Names of the labels, whose values are names of the config or listed here.
    package let labels: [String]
    /// One sentence.
    package let help: String
    /// One sample for each combination of labels. Values of the labels are in the order of ``labels``.
    fileprivate let samples: @Sendable (MetricValues) -> [(labels: [String], value: Double)]

    /// `samples` is called for each page, on the task of the request, and must not block.
    init(
        _ name: String, _ kind: Kind, _ labels: [String], _ help: String,
        _ samples: @escaping @Sendable (MetricValues) -> [([String], Double)]
    ) {
        (self.name, self.kind, self.labels, self.help, self.samples) = (name, kind, labels, help, samples)
    }

    /// A gauge without labels.
    private static func single(
        _ name: String, _ help: String, _ value: @escaping @Sendable (MetricValues) -> Double
    ) -> Metric {
        Metric(name, .gauge, [], help) { [([], value($0))] }
    }

    /// One sample for each destination of the config or the queue, also when its value is 0.
    private static func perDestination(
        _ name: String, _ kind: Kind, _ help: String,
        _ value: @escaping @Sendable (MetricValues, DestinationName) -> Double
    ) -> Metric {
        Metric(name, kind, ["destination"], help) { values in
            values.destinations.map { ([$0.name], value(values, $0)) }
        }
    }

    /// A counter since the start of the process. Routes that a reload removes disappear from the page; those that
    /// stay keep their counts.
    private static func perRoute(
        _ name: String, _ help: String, _ value: @escaping @Sendable (RouteCounts.Count) -> Int
    ) -> Metric {
        Metric(name, .counter, ["route"], help) { $0.routes.map { ([$0.name], Double(value($0.count))) } }
    }

    /// Every metric, in the order of the page.
    package static let all: [Metric] = gateway + providers + forwarding + inApp

    /// Metrics of forwarded pushes.
    private static let forwarding: [Metric] = [
        Metric(
            "signalbox_forwards_total", .counter, ["provider", "outcome"],
            "Pushes forwarded to a push service, by its answer, since the start."
        ) { values in
            ForwardedPush.Provider.allCases.flatMap { provider in
                PushVerdict.Outcome.allCases.map { outcome in
                    ([provider.rawValue, outcome.rawValue], Double(values.forwards.count(provider, outcome)))
                }
            }
        }
    ]

    /// Metrics of the queue, the routes, the media and the config. Those of in-app messages are in
    /// `Metric+InApp.swift`, those of provider endpoints in `ProviderValues.swift`.
    private static let gateway: [Metric] = [
        perDestination("signalbox_deliveries_accepted_total", .counter, "Deliveries created.") {
            Double($0.gauges[$1]?.accepted ?? 0)
        },
        perDestination("signalbox_deliveries_waiting", .gauge, "Deliveries that have not ended.") {
            Double($0.gauges[$1]?.waiting ?? 0)
        },
        perDestination("signalbox_deliveries_dead", .gauge, "Dead letters.") {
            Double($0.gauges[$1]?.dead ?? 0)
        },
        perDestination("signalbox_oldest_due_seconds", .gauge, "Age of the oldest overdue delivery, in seconds.") {
            values, name in
            values.gauges[name]?.oldestDue.map { max(0, values.now.timeIntervalSince($0)) } ?? 0
        },
        perDestination(
            "signalbox_destination_up", .gauge,
            "1 while a destination accepts deliveries, 0 while it is paused, disabled, failing or without permission."
        ) { $0.statuses[$1]?.isDown ?? false ? 0 : 1 },
        Metric(
            "signalbox_destination_state", .gauge, ["destination", "state"],
            "1 for the current state of a destination, 0 for the others."
        ) { values in
            values.destinations.flatMap { destination in
                let current = values.statuses[destination]?.word ?? "active"
                return DestinationStatus.words.map { ([destination.name, $0], $0 == current ? 1.0 : 0) }
            }
        },
        perRoute("signalbox_route_matched_total", "Events that matched a route since the start.") { $0.matched },
        perRoute("signalbox_route_failed_total", "Events whose route transformation failed.") { $0.failed },
        Metric(
            "signalbox_failure_rules_taken_total", .counter, ["rule"],
            "Pushes that a failure rule of provider endpoints took, since it was set or reset."
        ) { $0.failures.map { ([$0.rule], Double($0.taken)) } },
        Metric("signalbox_media_urls", .gauge, ["state"], "Known media URLs by download state.") { values in
            let media = values.media
            return [("wanted", media.wanted), ("stored", media.stored), ("failed", media.failed)].map {
                ([$0.0], Double($0.1))
            }
        },
        Metric(
            "signalbox_auth_failures_total", .counter, ["endpoint"],
            "Requests with a wrong token, by the kind of endpoint, since the start."
        ) { values in
            FailedTokens.Endpoint.allCases.map { ([$0.rawValue], Double(values.failedTokens[$0] ?? 0)) }
        },
        single("signalbox_media_files", "Stored media files.") { Double($0.media.files) },
        single("signalbox_media_bytes", "Bytes of all stored media files.") { Double($0.media.bytes) },
        single("signalbox_deliveries_held", "Deliveries that wait for media.") { Double($0.media.held) },
        single(
            "signalbox_config_last_reload_successful", "1 while the newest config is active, 0 while it is rejected."
        ) { $0.config.rejection == nil ? 1 : 0 },
        single(
            "signalbox_config_last_reload_success_timestamp_seconds", "Unix time when the active config was read."
        ) { Double(Timestamp($0.config.since).milliseconds) / 1000 },
    ]
}
