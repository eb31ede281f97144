import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct EventTallyTests {
    private static func event(
        of vendor: String, kind: PushNotification.Kind = .alert, from source: String = "app", subject: String? = nil,
        routes: [String] = ["all"], warnings: [String] = [], sampling: Event.Sampling = .passed,
        followers: [RoutedEvent] = []
    ) -> RoutedEvent {
        let event = Event(
            id: EventID(at: TestPipeline.time, random: (1, 2)), source: SourceName(source),
            acceptedAt: TestPipeline.time, vendor: VendorID(vendor), kind: kind, warnings: warnings, subject: subject,
            body: [], sampling: sampling)
        return RoutedEvent(event: event, routes: routes, deliveries: [], followers: followers)
    }

    /// The values that the events of a group have in common, as a text.
    private static func name(_ routed: RoutedEvent) -> String {
        let event = routed.event
        return "\(event.source) \(event.vendor) \(event.kind) \(event.isOfPayload) \(routed.routes)"
    }

    private static func counts(_ tally: EventTally) -> [String: Int] {
        tally.groups.reduce(into: [:]) { $0[name($1.first), default: 0] += $1.count }
    }

    @Test func eventsThatDifferInOneValueHaveGroupsOfTheirOwn() {
        let events = [
            Self.event(of: "mce"), Self.event(of: "braze"), Self.event(of: "mce", kind: .silent),
            Self.event(of: "mce", from: "web"), Self.event(of: "mce", subject: "mce/tap"),
            Self.event(of: "mce", routes: []), Self.event(of: "mce"),
        ]
        let tally = EventTally(events, without: [:])
        #expect(tally.groups.map(\.count) == [2, 1, 1, 1, 1, 1] && tally.count == 7)
    }

    @Test func repeatsAreLeftOutWithTheirFollowers() {
        let tap = Self.event(of: "mce", subject: "mce/tap", followers: [Self.event(of: "unknown")])
        #expect(EventTally([tap, tap, tap], without: [1: "earlier"]).count == 4)
        #expect(EventTally([tap], without: [0: "earlier"]).groups.isEmpty)
    }

    @Test func keepsTheEventsThatNeedMoreThanCounts() {
        let events = [
            Self.event(of: "a"), Self.event(of: "b", warnings: ["x.y"]), Self.event(of: "c", sampling: .undecided),
            Self.event(of: "d", sampling: .shown(payload: nil)),
        ]
        let tally = EventTally(events, without: [:])
        #expect(tally.warned.map(\.event.vendor.name) == ["b"])
        #expect(tally.sampled.map(\.event.vendor.name) == ["c", "d"])
    }

    /// Even with more groups than an event is compared with.
    @Test(arguments: [1, 60, 3 * EventTally.mostCompared])
    func countsAsADictionaryDoes(vendors: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let events = (0..<2000).map { _ in
            Self.event(
                of: "v\(Int.random(in: 0..<vendors, using: &random))",
                kind: Bool.random(using: &random) ? .alert : .silent)
        }
        let tally = EventTally(events, without: [:])
        #expect(tally.count == events.count)
        #expect(Self.counts(tally) == events.reduce(into: [:]) { $0[Self.name($1), default: 0] += 1 }, "seed \(seed)")
    }
}
