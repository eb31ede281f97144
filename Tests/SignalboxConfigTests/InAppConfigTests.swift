import Foundation
import SignalboxConfig
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct InAppConfigTests {
    @Test func defaultsAreThoseOfThePolicy() throws {
        for text in ["{}", "{\"inapp\": {}}"] {
            #expect(try RoutedConfig(Array(text.utf8)).config.inapp == Policy())
        }
    }

    /// An unknown window must never count as a known one, such as the whole lifetime.
    @Test(arguments: ["forever", "rolling", "Day", "1 day", "3mo"])
    func anUnknownWindowOfALimitIsRejected(_ window: String) throws {
        let text = #"{"inapp":{"limits":[{"name":"a","count":1,"window":"\#(window)"}]}}"#
        let error = #expect(throws: InvalidConfig.self) { try RoutedConfig(Array(text.utf8)) }
        let mistake = try #require(error?.mistakes.first)
        #expect(mistake.pointer == "/inapp/limits/0/window" && mistake.position?.line == 1)
        #expect(
            mistake.message
                == "there is no window \"\(window)\"; expected session, day, week, lifetime or a duration")
    }

    /// Every value that the reader accepts is one that the engine accepts.
    @Test(arguments: try FixtureFile.all(in: .module, folder: "configs/good"))
    func readsPoliciesThatTheEngineAccepts(_ file: FixtureFile) throws {
        try RoutedConfig(file.bytes).config.inapp.validate()
    }

    @Test(arguments: [
        ("interval", "0ms", "7d"), ("history", "1d", "400d"), ("lease", "1s", "1h"), ("silence", "1m", "7d"),
        ("endedOffers", "1m", "30d"), ("replay", "0ms", "1h"),
    ])
    func acceptsTheBoundsOfDurations(_ key: String, _ low: String, _ high: String) throws {
        for value in [low, high] {
            try RoutedConfig(Array("{\"inapp\":{\"\(key)\":\"\(value)\"}}".utf8)).config.inapp.validate()
        }
    }

    @Test func boundsTheNumberOfLimits() {
        let limits = (0...50).map { "{\"name\":\"\($0)\",\"count\":1,\"window\":\"day\"}" }.joined(separator: ",")
        let text = "{\"inapp\":{\"limits\":[\(limits)]}}"
        let error = #expect(throws: InvalidConfig.self) { try RoutedConfig(Array(text.utf8)) }
        #expect(error?.mistakes.map(\.message) == ["this has more than 50 limits; remove some"])
    }

    /// The spelling of the expected files.
    static func spelled(_ policy: Policy) -> [String] {
        let spans = [
            ("interval", policy.interval), ("lease", policy.lease), ("silence", policy.silence),
            ("ended", policy.endedOffers), ("replay", policy.replay), ("history", policy.history),
        ].map { "\($0.0) \(text($0.1))" }
        let offsets = policy.vendorOffsets.sorted { $0.key < $1.key }.map { "offset \($0.key) \($0.value)" }
        let exempt = policy.exemptions
        let pauses = policy.pauses.map { pause in
            "pause \(pause.name) vendors \(words(pause.vendors)) screens \(words(pause.screens))"
                + " from \(time(pause.from)) until \(time(pause.until))"
        }
        let groups = policy.controlGroups.map { "group \($0.name) \($0.salt) \($0.share) \(spelled($0.coverage))" }
        return [spans.joined(separator: " ")] + policy.limits.map(spelled) + offsets
            + [
                "exempt vendors \(words(exempt.vendors)) messages \(words(exempt.messages)) counted \(exempt.areCounted)"
            ] + pauses + groups + ["slots \(words(policy.slotNames))"]
    }

    private static func spelled(_ limit: Limit) -> String {
        let owner =
            switch limit.owner {
            case .message: "message"
            case .scope: "scope"
            case .vendor(let vendor): "vendor \(vendor)"
            case .named(let name): name
            }
        let window =
            switch limit.window {
            case .session: "session"
            case .lifetime: "lifetime"
            case .rolling(let span): text(span)
            case .day(let zone): "day of \(spelled(zone))"
            case .week(let zone): "week of \(spelled(zone))"
            }
        return "\(limit.name ?? "-"): \(limit.count) of \(owner) per \(limit.per.rawValue) in \(window)"
    }

    private static func spelled(_ zone: Limit.Zone) -> String {
        switch zone {
        case .user: "the user's zone"
        case .fixed(let zone): zone.identifier
        }
    }

    private static func spelled(_ coverage: ControlGroup.Coverage) -> String {
        switch coverage {
        case .everything: "everything"
        case .vendor(let vendor): "vendor \(vendor)"
        case .experiment: "experiment"
        }
    }

    private static func words(_ set: Set<String>) -> String { set.sorted().joined(separator: " ") }

    private static func text(_ span: Span) -> String { Duration.milliseconds(span).text }

    private static func time(_ instant: Instant?) -> String {
        instant.flatMap { Timestamp(milliseconds: $0)?.text } ?? "-"
    }
}
