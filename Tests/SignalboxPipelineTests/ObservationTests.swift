import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct ObservationTests {
    @Test func countsAcceptedEventsWithoutRepeats() {
        let setting = ObservationSetting()
        let events = ["mce", "mce", "braze"].map { ObservationSetting.event(of: $0, warnings: ["x.y", "x.y"]) }
        setting.observation.accepted(EventTally(events, without: [0: "earlier"]))
        #expect(setting.observation.activity.vendors["mce"] == .init(events: 1, warnings: ["x.y": 1]))
        #expect(setting.observation.activity.vendors["braze"] == .init(events: 1, warnings: ["x.y": 1]))
        #expect(setting.observation.recent.position.events == 2)
        #expect(setting.observation.recent.newestEvents(upTo: 9).map(\.vendor.name) == ["braze", "mce"])
    }

    @Test func aFloodIsCountedAndSampled() {
        let setting = ObservationSetting()
        let flood = Array(repeating: ObservationSetting.event(of: "braze"), count: 30_000)
        setting.observation.accepted(EventTally(flood, without: [:]))
        let shown = setting.observation.recent.newestEvents(upTo: .max).count
        #expect(shown == 205)
        #expect(setting.observation.recent.position.events == 30_000)
        #expect(setting.observation.activity.vendors["braze"]?.events == 30_000)
    }

    /// The decision at the reading is final, so that no payload is copied for an event that is not shown.
    @Test func keepsPayloadsOfShownEventsOnly() {
        let setting = ObservationSetting()
        var kept = 0
        for _ in 0..<1000 {
            let sampling = [UInt8](repeating: 1, count: 10).withUnsafeBufferPointer {
                setting.observation.sampling($0, of: VendorID("mce"))
            }
            if case .shown(let payload?) = sampling, payload.count == 10 { kept += 1 }
            setting.observation.accepted(EventTally([ObservationSetting.event(sampling: sampling)], without: [:]))
        }
        #expect(kept == 205)
        #expect(setting.observation.recent.newestEvents(upTo: .max).count == 205)
        #expect(setting.observation.recent.position.events == 1000)
    }

    @Test func previewsTakeNoSample() throws {
        let setting = ObservationSetting()
        let normalizer = Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key),
            observation: setting.observation)
        func event(_ normalizer: Normalizer) throws -> Event {
            try Array(#"{"aps":{"alert":"x"}}"#.utf8).withUnsafeBufferPointer {
                try normalizer.event(
                    $0, as: TestPipeline().reception, at: PayloadPosition(), with: Normalizer.makeParser())
            }
        }
        for _ in 0..<300 { _ = try event(normalizer.forPreviews) }
        guard case .shown(payload: _?) = try event(normalizer).sampling else {
            Issue.record("The previews have used up the samples.")
            return
        }
    }

    @Test func aLargePayloadIsShownWithoutItsBytes() {
        let setting = ObservationSetting()
        let large = [UInt8](repeating: 1, count: RecentLog.largestPayload + 1)
        let sampling = large.withUnsafeBufferPointer { setting.observation.sampling($0, of: VendorID("mce")) }
        guard case .shown(payload: nil) = sampling else {
            Issue.record("\(sampling)")
            return
        }
    }

    @Test func aLogThatIsSwitchedOffKeepsNoEvent() {
        let setting = ObservationSetting(recent: 0)
        setting.observation.accepted(EventTally([ObservationSetting.event()], without: [:]))
        setting.observation.settled([ObservationSetting.settlement(.delivered(status: 200))])
        setting.observation.changed(DestinationName("crm"), to: "paused")
        #expect(setting.observation.recent.newestEvents(upTo: 9).isEmpty)
        #expect(setting.observation.recent.position == RecentPosition(events: 1, deliveries: 1, changes: 1))
        #expect(setting.observation.activity.vendors["mce"]?.events == 1)
    }

    @Test func countsDeliveriesByTheirOutcome() {
        let setting = ObservationSetting()
        let outcomes: [Outcome] = [
            .delivered(status: 200), .retry(after: .seconds(1), status: 503, reason: "answered 503"),
            .dead(status: 400, reason: "answered 400"), .expired, .returned, .postponed(for: .zero, reason: "x"),
        ]
        setting.observation.settled(outcomes.map { ObservationSetting.settlement($0) })
        setting.advance(by: .seconds(1))
        let sums = setting.observation.activity.series(window: 1, step: 1).sums
        #expect(sums == [.delivered: ["crm": [1]], .failed: ["crm": [2]]])
        let shown = setting.observation.recent.read(after: RecentPosition(), upTo: 10).entries.map { entry in
            if case .delivery(let delivery) = entry.item { delivery.outcome } else { nil as RecentDelivery.Outcome? }
        }
        #expect(shown == [.delivered, .retry, .dead, .expired])
        #expect(setting.observation.recent.position.deliveries == 4)
    }

    @Test func refusalsOfUnknownSendersDoNotDisplaceOthers() {
        let setting = ObservationSetting()
        func refusal(_ code: String, _ source: String?) -> RefusedPayload {
            RefusedPayload(
                at: ObservationSetting.start, door: .api, code: code, source: source.map { SourceName($0) }, line: 3)
        }
        setting.observation.refused(refusal("payload-not-json", "mobile"))
        for _ in 0..<1000 { setting.observation.refused(refusal("InvalidProviderToken", nil)) }
        let newest = setting.observation.rejections.newest
        #expect(newest.count == 1 + RejectionLog.mostUnidentified)
        #expect(newest.last == refusal("payload-not-json", "mobile"))
        for _ in 0..<1000 { setting.observation.refused(refusal("payload-empty", "mobile")) }
        #expect(setting.observation.rejections.newest.count == 200)
    }

    /// Every path of an event into the queue calls the observation after the commit.
    @Test func observesEventsAfterTheirCommit() async throws {
        try await withTemporaryDirectory { directory in
            let setting = ObservationSetting()
            let queue = try SQLiteQueue(in: directory)
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key),
                observation: setting.observation)
            let intake = Intake(
                normalizer: normalizer, routes: RouteTable(routes: []), queue: queue,
                observation: setting.observation, now: { TestPipeline.time })
            let payload = Array(#"{"aps":{"alert":"x"},"promo":{"id":7}}"#.utf8)
            _ = try await intake.accept(payload, from: SourceName("mobile"))
            let two = Array(#"[{"aps":{"alert":"y"}},7]"#.utf8)
            _ = try await intake.accept(two, from: SourceName("mobile"))
            let shown = setting.observation.recent.newestEvents(upTo: 9)
            #expect(shown.count == 2)
            let first = try #require(shown.last)
            #expect(first.payload == payload)
            #expect(try await queue.eventRecord(first.id.description)?.body == first.body)
        }
    }
}
