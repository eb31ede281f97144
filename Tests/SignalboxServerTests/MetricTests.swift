import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct MetricTests {
    @Test func everyMetricIsDeclaredOnce() {
        let names = Metric.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func failedProofsAreAClosedSet() {
        #expect(Set(FailedProof.all).count == FailedProof.all.count)
        #expect(
            FailedProof.all.contains(.apns(.missingProviderToken)) && FailedProof.all.contains(.token(.invalidGrant)))
        #expect(!FailedProof.all.contains(.apns(.badDeviceToken)))
    }

    @Test func namesFollowTheConventions() {
        for metric in Metric.all {
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.name.hasSuffix("_info") == (metric.kind == .info), "\(metric.name)")
            #expect(metric.name.hasPrefix("signalbox_") || metric.name.hasPrefix("process_"), "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
            #expect(Set(metric.labels).count == metric.labels.count && !metric.labels.contains("le"), "\(metric.name)")
            if metric.kind == .histogram { #expect(metric.unit == "seconds", "\(metric.name)") }
        }
    }

    /// Dashboards of users name them.
    @Test func metricsOfEarlierVersionsKeepTheirNames() {
        let names = Set(Metric.all.map(\.name))
        for name in [
            "deliveries_accepted_total", "deliveries_waiting", "deliveries_dead", "oldest_due_seconds",
            "destination_up", "destination_state", "route_matched_total", "route_failed_total", "media_urls",
            "media_files", "media_bytes", "deliveries_held", "config_last_reload_successful",
            "config_last_reload_success_timestamp_seconds", "auth_failures_total", "forwards_total",
            "inapp_decisions_total",
        ] { #expect(names.contains("signalbox_" + name)) }
    }

    /// The queue counts every destination that it ever had.
    @Test func destinationsThatLeftTheConfigHideNoOther() {
        let left = (0..<250).map { DestinationName("a\($0)") }
        var gauges = Dictionary(uniqueKeysWithValues: left.map { ($0, DestinationGauges()) })
        gauges[left[249]]?.waiting = 1
        let configured: Set = [DestinationName("crm"), DestinationName("erp")]
        let shown = MetricValues.shown(configured, gauges, [:])
        #expect(shown.count == MetricValues.Bounds.destinations && shown == shown.sorted())
        #expect(configured.isSubset(of: shown) && shown.contains(left[249]))
    }

    /// The label of those beyond the limit is also a valid name.
    @Test func aDestinationOrRouteNamedOtherHasOneSeries() {
        let (crm, other) = (DestinationName("crm"), DestinationName("other"))
        var gauges = [crm: DestinationGauges()]
        #expect(MetricValues.counted([crm], gauges) == [crm])
        gauges[other] = DestinationGauges()
        #expect(MetricValues.counted([crm], gauges) == [crm, other])
        #expect(MetricValues.counted([crm, other], gauges) == [crm, other])

        let most = MetricValues.Bounds.routes
        let routes = (0..<most + 5).map {
            (name: $0 == 3 ? "other" : "r\($0)", count: RouteCounts.Count(matched: 1))
        }
        let bounded = MetricValues.bounded(routes)
        #expect(bounded.count == most && Set(bounded.map(\.name)).count == most)
        #expect(bounded.first { $0.name == "other" }?.count.matched == 6)
        #expect(MetricValues.bounded(Array(routes.dropFirst(4))).last?.name == "other")
    }

    @Test func requestsBeyondTheLimitShareASeries() {
        let counters = ServerCounters()
        let start = ContinuousClock.now
        for number in 0..<300 { counters.record("/v1/\(number)", 200, since: start) }
        #expect(counters.requests.all.count == 81)
        let others = counters.requests.all.first { $0.key.route == "other" }
        #expect(others?.key.status == "other" && others.map { $0.series.values.count > 150 } == true)
    }

    /// 503 tells that the queue cannot be written. Requests of operators must not hide it.
    @Test func refusalsOfSendersKeepTheirSeriesBeyondTheLimit() {
        let counters = ServerCounters()
        for number in 0..<300 { counters.record("/v1/\(number)", 200, since: .now) }
        for route in ["/v1/notifications", "apns"] { counters.record(route, 503, since: .now) }
        let refused = counters.requests.all.filter { $0.key.status == "503" && $0.series.values.count == 1 }
        #expect(Set(refused.map(\.key.route)) == ["/v1/notifications", "apns"])
    }

    @Test func aTimerAndARecordShareASeries() {
        let counters = ServerCounters()
        let timer = counters.timer(of: "/v1/notifications", success: 202)
        timer.record(202, since: .now)
        timer.record(503, since: .now)
        counters.record("/v1/notifications", 202, since: .now)
        let counts = counters.requests.all.filter { $0.key.route == "/v1/notifications" }
            .reduce(into: [:]) { $0[$1.key.status] = $1.series.values.count }
        #expect(counts == ["202": 2, "503": 1])
    }

    @Test func everyChangeOfOperatorsIsShownBeforeItOccurs() {
        let counters = ServerCounters()
        let operations = Set(Endpoint.all.compactMap(\.operation?.name))
        #expect(Set(counters.actions.all.map(\.key.operation)) == operations)
        counters.count("destinations.pause", isDone: false)
        let refused = counters.actions.all.first {
            $0.key.operation == "destinations.pause" && $0.key.result == "refused"
        }
        #expect(refused?.series.value == 1)
    }
}
