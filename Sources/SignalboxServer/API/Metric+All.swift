import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// Metrics of the API, of routes, media and config. Other lists are in `Metric+Deliveries.swift`,
/// `Metric+Process.swift`, `Metric+InApp.swift` and `ProviderValues.swift`.
extension Metric {
    /// Metrics of payloads and events.
    static let events: [Metric] = [
        perSeries(
            "signalbox_events_received_total", ["source", "vendor", "kind"],
            "Stored events of payloads since the start, without repeats.", \.counters.received
        ) { [$0.source.name, $0.vendor.name, $0.kind.rawValue] },
        perSeries(
            "signalbox_payloads_rejected_total", ["source", "code"],
            "Rejected payloads since the start, by their error code.", \.counters.rejected
        ) { [$0.source.name, $0.code] },
        perSeries(
            "signalbox_event_warnings_total", ["vendor", "code"],
            "Stored events with a warning since the start; an event counts once for each code.", \.counters.warned
        ) { [$0.vendor.name, $0.code] },
        single(
            "signalbox_events_unrouted_total", .counter, "Stored events that no route matched, since the start."
        ) { Double($0.counters.unrouted.value) },
    ]

    /// Metrics of requests, operators and the queue.
    static let requests: [Metric] = [
        Metric(
            "signalbox_http_request_duration_seconds", .histogram, ["route", "status"],
            "Time from the head of a request to its response, by the path of the endpoint or the kind of provider "
                + "endpoint.",
            samples: { values in
                sorted(values.server.requests.all.map { key, histogram in Sample([key.route, key.status], histogram) })
            }),
        Metric(
            "signalbox_queue_commit_duration_seconds", .histogram, [],
            "Time of a commit with its sync to the disk, which many requests share.",
            samples: { [Sample([], $0.health.commits)] }),
        single(
            "signalbox_queue_readable",
            "1 while the queue can be read, 0 while it cannot: the metrics of its contents then have no samples."
        ) { $0.queue == nil ? 0 : 1 },
        optional(
            "signalbox_queue_file_bytes",
            "Size of the queue's files including the write-ahead log; with PostgreSQL, size of the tables."
        ) { ($0.queue?.space.used).map { Double($0) } },
        optional(
            "signalbox_disk_free_bytes",
            "Free space of the file system of the data directory; without a sample with PostgreSQL."
        ) { $0.queue?.space.free.map { Double($0) } },
        optional(
            "signalbox_disk_size_bytes",
            "Size of the file system of the data directory; without a sample with PostgreSQL."
        ) { $0.queue?.space.size.map { Double($0) } },
        perSeries(
            "signalbox_actions_total", ["operation", "result"],
            "Changes by operators over HTTP since the start, and those that were refused.", \.server.actions
        ) { [$0.operation, $0.result] },
        Metric(
            "signalbox_auth_failures_total", .counter, ["endpoint"],
            "Requests with a wrong token, by the kind of endpoint, since the start."
        ) { values in
            FailedTokens.Endpoint.allCases.map { ([$0.rawValue], Double(values.failedTokens[$0] ?? 0)) }
        },
        single("signalbox_console_streams", "Open streams of live events.") { Double($0.streams) },
        Metric(
            "signalbox_telemetry_dropped_total", .counter, ["signal"],
            "Spans, and points of metrics, that the collector did not accept in time, since the start."
        ) { values in
            DropCounts.Signal.allCases.map { ([$0.rawValue], Double(values.counters.telemetry.dropped($0))) }
        },
    ]

    /// Metrics of forwarded pushes.
    static let forwarding: [Metric] = [
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

    /// Metrics of the routes, the media and the config.
    static let gateway: [Metric] = [
        perRoute("signalbox_route_matched_total", "Events that matched a route since the start.") { $0.matched },
        perRoute("signalbox_route_failed_total", "Events whose route transformation failed.") { $0.failed },
        Metric(
            "signalbox_failure_rules_taken_total", .counter, ["rule"],
            "Pushes that a failure rule of provider endpoints took, since it was set or reset."
        ) { $0.failures.map { ([$0.rule], Double($0.taken)) } },
        Metric("signalbox_media_urls", .gauge, ["state"], "Known media URLs by download state.") { values in
            guard let media = values.queue?.media else { return [] }
            return [("wanted", media.wanted), ("stored", media.stored), ("failed", media.failed)].map {
                ([$0.0], Double($0.1))
            }
        },
        media("signalbox_media_files", "Stored media files.") { Double($0.files) },
        media("signalbox_media_bytes", "Bytes of all stored media files.") { Double($0.bytes) },
        media("signalbox_deliveries_held", "Deliveries that wait for media.") { Double($0.held) },
        single(
            "signalbox_config_last_reload_successful", "1 while the newest config is active, 0 while it is rejected."
        ) { $0.config.rejection == nil ? 1 : 0 },
        single(
            "signalbox_config_last_reload_success_timestamp_seconds", "Unix time when the active config was read."
        ) { Double(Timestamp($0.config.since).milliseconds) / 1000 },
    ]

    /// Without a sample while the queue cannot be read.
    private static func media(
        _ name: String, _ help: String, _ value: @escaping @Sendable (MediaGauges) -> Double
    ) -> Metric { optional(name, help) { ($0.queue?.media).map(value) } }
}
