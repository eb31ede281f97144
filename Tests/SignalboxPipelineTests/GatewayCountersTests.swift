import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct GatewayCountersTests {
    private let source = SourceName("mobile")

    /// Counts payloads of a real intake, one request for each body.
    private func counters(of bodies: [String], routes: [Route] = []) async throws -> GatewayCounters {
        try await withTemporaryDirectory { directory in
            let observation = Observation()
            let intake = Intake(
                normalizer: TestPipeline().normalizer, routes: RouteTable(routes: routes),
                queue: try SQLiteQueue(in: directory), observation: observation, now: { TestPipeline.time })
            for body in bodies { _ = try await intake.accept(Array(body.utf8), from: source) }
            return observation.counters
        }
    }

    private func received(_ counters: GatewayCounters) -> [String: Int] {
        counters.received.all.reduce(into: [:]) { counts, series in
            let key = series.key
            counts["\(key.source)/\(key.vendor)/\(key.kind.rawValue)"] = series.series.value
        }
    }

    @Test func countsStoredEventsBySourceVendorAndKind() async throws {
        let alert = #"{"aps":{"alert":"x"}}"#
        let silent = #"{"aps":{"content-available":1}}"#
        let counters = try await counters(of: [alert, "[\(alert),\(silent),\(alert)]", "\(silent)\n\(alert)"])
        #expect(received(counters) == ["mobile/unknown/alert": 4, "mobile/unknown/silent": 2])
        #expect(counters.unrouted.value == 6)
    }

    @Test func matchedEventsAreNotUnrouted() async throws {
        let route = Route(name: "all", match: .everything, destinations: [DestinationName("crm")])
        let counters = try await counters(of: [#"{"aps":{"alert":"x"}}"#], routes: [route])
        #expect(counters.unrouted.value == 0 && received(counters).values.reduce(0, +) == 1)
    }

    /// Any client can cause refusals without identity: they are listed and not counted.
    @Test func countsRejectedPayloadsByCode() {
        let observation = Observation()
        for (code, source) in [("payload-not-json", source), ("payload-not-json", source), ("BadPath", nil)] {
            observation.refused(RefusedPayload(at: TestPipeline.time, door: .api, code: code, source: source))
        }
        let rejected = observation.counters.rejected.all.reduce(into: [:]) {
            $0["\($1.key.source) \($1.key.code)"] = $1.series.value
        }
        #expect(rejected == ["mobile payload-not-json": 2])
        #expect(observation.rejections.newest.map(\.code).contains("BadPath"))
    }

    /// An alert compares the rejected payloads of a source with its events.
    @Test func aRefusedReportOfADeviceIsNoRejectedPayload() {
        let observation = Observation()
        observation.refused(
            RefusedPayload(
                at: TestPipeline.time, door: .api, code: "offer-not-found", source: source, isReport: true))
        #expect(observation.counters.rejected.all.allSatisfy { $0.series.value == 0 })
        #expect(observation.rejections.newest.map(\.code) == ["offer-not-found"])
    }

    @Test func aSourceOfALaterConfigCountsUnderItsOwnName() throws {
        let counters = GatewayCounters()
        let event = Self.event(vendor: "mce", source: "mobile")
        counters.expect(GatewayConfig())
        counters.accepted(EventTally([event, event], without: [:]))
        #expect(received(counters)["other/mce/alert"] == 2)
        let text = #"""
            {"sources":{"mobile":{"auth":{"bearer":["env:TOKEN"]}}},
             "destinations":{"crm":{"url":"https://crm.example.com/","secret":"env:SECRET"}},
             "routes":[{"name":"all","match":{},"to":["crm"]}]}
            """#
        counters.expect(try RoutedConfig(Array(text.utf8)).config)
        counters.accepted(EventTally([event], without: [:]))
        #expect(received(counters)["mobile/mce/alert"] == 1)
        #expect(received(counters)["other/mce/alert"] == 2)
    }

    @Test func eventsAboutOtherThingsAreNotCounted() {
        let counters = GatewayCounters()
        let event = Event(
            id: EventID(at: TestPipeline.time, random: (1, 2)), source: source, acceptedAt: TestPipeline.time,
            vendor: VendorID("mce"), kind: .alert, warnings: [], subject: "mce/tap", body: [])
        counters.accepted(EventTally([RoutedEvent(event: event, routes: [], deliveries: [])], without: [:]))
        #expect(received(counters).isEmpty && counters.unrouted.value == 0)
    }

    /// Attempts, their errors, and the time until a delivery succeeded.
    @Test func countsAttemptsByOutcomeAndError() {
        let observation = Observation()
        let crm = DestinationName("crm")
        func settle(_ outcome: Outcome, error: String? = nil, seconds: Int = 1) {
            var lease = Lease(delivery: 1, event: "", destination: crm, attempts: 0, body: [])
            lease.readyAt = observation.clock.now.addingTimeInterval(-7)
            let attempt = Attempt(startedAt: TestPipeline.time, duration: .seconds(seconds), error: error)
            observation.settled([Settlement(lease, outcome, attempt: attempt)])
        }
        settle(.delivered(status: 200), seconds: 2)
        settle(.retry(after: .seconds(1), status: 503, reason: ""))
        settle(.retry(after: .seconds(1), status: nil, reason: ""), error: "timeout-reply")
        settle(.dead(status: 404, reason: ""))
        settle(.dead(status: nil, reason: ""), error: "a later word")
        settle(.returned, error: "stopped")
        let counters = observation.counters.destinations.series(for: crm)
        let counts = counters.values.filter { $0.count > 0 }.map { "\($0.outcome.label) \($0.error) \($0.count)" }
        #expect(
            counts == [
                "delivered none 1", "retry status-5xx 1", "retry timeout-reply 1", "dead status-4xx 1", "dead other 1",
                "postponed stopped 1",
            ])
        #expect(counters.durations.values.count == 6 && counters.durations.values.sum == 7)
        let lags = counters.lags.values
        #expect(lags.count == 1 && lags.sum > 6 && lags.sum < 60)
    }

    @Test func countsAWarningOncePerEvent() async throws {
        let counters = try await counters(of: [#"{"aps":{"alert":"x","badge":"many","sound":7}}"#])
        let warned = counters.warned.all.map { "\($0.key.vendor) \($0.key.code) \($0.series.value)" }
        #expect(warned.contains("unknown apns.badge-not-a-number 1"), "\(warned)")
    }

    /// In any order, and with more combinations than a request keeps.
    @Test func aMixedBatchIsCountedByCombination() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let names = (0..<3000).map { _ in "v\(Int.random(in: 0..<60, using: &random))" }
        let counters = GatewayCounters()
        counters.accepted(EventTally(names.map { Self.event(vendor: $0) }, without: [:]))
        let expected = names.reduce(into: [:]) { $0["default/\($1)/alert", default: 0] += 1 }
        #expect(received(counters) == expected, "seed \(seed)")
    }

    @Test func repeatsAreNotCounted() {
        let counters = GatewayCounters()
        counters.accepted(EventTally((1...3).map { _ in Self.event(vendor: "mce") }, without: [1: "earlier"]))
        #expect(received(counters) == ["default/mce/alert": 2])
    }

    @Test func vendorsBeyondTheLimitShareALabel() {
        let counters = GatewayCounters()
        for number in 0..<(GatewayCounters.mostVendors + 50) {
            counters.accepted(EventTally([Self.event(vendor: "v\(number)")], without: [:]))
        }
        let vendors = Set(counters.received.all.map(\.key.vendor.name))
        #expect(vendors.count == GatewayCounters.mostVendors && vendors.contains("other"))
        #expect(received(counters)["default/other/alert"] == 51, "`unknown` is one of the vendors")
    }

    @Test func seriesBeyondTheLimitAreShared() {
        let table = SeriesTable<Int, Counter>(limit: 10, other: { _ in -1 }, make: { Counter() })
        for key in 0..<100 { table.series(for: key).add() }
        for key in 0..<100 { table.series(for: key).add() }
        #expect(table.all.count == 11)
        #expect(table.series(for: -1).value == 180 && table.series(for: 3).value == 2)
        #expect(table.series(for: 55) === table.series(for: 99))
    }

    @Test func aSeriesOfAnActiveConfigIsShownBeforeItsFirstEvent() {
        let counters = GatewayCounters()
        counters.expect(GatewayConfig())
        #expect(received(counters)["default/braze/alert"] == 0 && received(counters)["default/unknown/silent"] == 0)
        #expect(counters.rejected.all.count == Rejection.Code.allCases.count)
        #expect(counters.warned.all.contains { $0.key.vendor.name == "mce" && $0.key.code.hasPrefix("mce.") })
    }

    /// Words of push services beyond the limit share a series.
    @Test func codesBeyondTheLimitAreShared() {
        let counters = GatewayCounters()
        for number in 0..<1000 { counters.rejected("Word\(number)", from: SourceName("mobile")) }
        #expect(counters.rejected.all.count == 301)
        #expect(counters.rejected.all.first { $0.key.code == "other" }?.series.value == 700)
    }

    /// An open gateway accepts any name of a source.
    @Test func sourcesThatNoConfigHasShareALabel() {
        let counters = GatewayCounters()
        counters.expect(GatewayConfig())
        for number in 0..<50 {
            counters.accepted(EventTally([Self.event(vendor: "mce", source: "s\(number)")], without: [:]))
            counters.rejected("payload-not-json", from: SourceName("s\(number)"))
        }
        #expect(received(counters)["other/mce/alert"] == 50)
        #expect(counters.rejected.all.first { $0.key.source.name == "other" }?.series.value == 50)
    }

    /// All series of the process together stay below ten thousand.
    @Test func everySourceKeepsTheBound() {
        let counters = GatewayCounters()
        for source in 0..<200 {
            for vendor in 0..<100 {
                let event = Self.event(vendor: "v\(vendor)", source: "s\(source)", warnings: ["w\(vendor).\(source)"])
                counters.accepted(EventTally([event], without: [:]))
                counters.rejected("payload-not-json", from: event.event.source)
            }
            _ = counters.destinations.series(for: DestinationName("d\(source)"))
        }
        #expect(counters.received.all.count == 2001)
        #expect(counters.warned.all.count == 501 && counters.rejected.all.count == 200)
        #expect(counters.destinations.all.count == 36)
    }

    private static func event(
        vendor: String, source: String = "default", warnings: [String] = []
    ) -> RoutedEvent {
        let event = Event(
            id: EventID(at: TestPipeline.time, random: (1, 2)), source: SourceName(source),
            acceptedAt: TestPipeline.time, vendor: VendorID(vendor), kind: .alert, warnings: warnings, body: [])
        return RoutedEvent(event: event, routes: [], deliveries: [])
    }
}
