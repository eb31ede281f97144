import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct RouteOptionTests {
    private func event(id: String = "x", at time: String = "2026-11-20T21:29:00.123Z") -> String {
        #"{"id":"\#(id)","time":"\#(time)","v":"mce"}"#
    }

    private func verdicts(_ event: String, _ routes: [Route]) throws -> [RouteVerdict] {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            let table = RouteTable(routes: routes)
            let value = try parser.parse(Array(event.utf8))
            let verdicts = try table.verdicts(on: value)
            // Verdicts and decision agree.
            #expect(try verdicts.filter { $0.verdict == .taken }.map(\.route.name) == table.decide(value).routes)
            return verdicts.map(\.verdict)
        }
    }

    // MARK: Windows

    /// Local times by the tz database, computed with another program.
    @Test(
        arguments: [
            (#"{"from": "2026-11-20T21:29:00.123Z"}"#, "2026-11-20T21:29:00.123Z", true),
            (#"{"from": "2026-11-20T22:29:00.124+01:00"}"#, "2026-11-20T21:29:00.123Z", false),
            (#"{"until": "2026-11-20T21:29:00.123Z"}"#, "2026-11-20T21:29:00.123Z", false),
            (#"{"until": "2026-11-20T21:29:00.124Z"}"#, "2026-11-20T21:29:00.123Z", true),
            (#"{"hours": "08:00-17:30"}"#, "2026-11-20T08:00:00Z", true),
            (#"{"hours": "08:00-17:30"}"#, "2026-11-20T07:59:59.999Z", false),
            (#"{"hours": "08:00-17:30"}"#, "2026-11-20T17:29:59Z", true),
            (#"{"hours": "08:00-17:30"}"#, "2026-11-20T17:30:00Z", false),
            (#"{"hours": ["00:00-01:00", "23:00-24:00"]}"#, "2026-11-20T23:59:59Z", true),
            (#"{"hours": ["00:00-01:00", "23:00-24:00"]}"#, "2026-11-20T12:00:00Z", false),
            (#"{"hours": "01:00-03:00", "timeZone": "Europe/Berlin"}"#, "2026-03-29T00:30:00Z", true),
            (#"{"hours": "01:00-03:00", "timeZone": "Europe/Berlin"}"#, "2026-03-29T01:30:00Z", false),
            (#"{"hours": "02:00-03:00", "timeZone": "Europe/Berlin"}"#, "2026-10-25T01:30:00Z", true),
            (#"{"hours": "02:00-03:00", "timeZone": "Europe/Berlin"}"#, "2026-10-25T00:30:00Z", true),
            (#"{"days": ["sat"], "hours": "04:00-06:00", "timeZone": "Asia/Kolkata"}"#, "2026-11-20T23:30:00Z", true),
            (#"{"days": ["fri"], "timeZone": "Asia/Kolkata"}"#, "2026-11-20T23:30:00Z", false),
            (#"{"days": ["fri"]}"#, "2026-11-20T23:30:00Z", true),
            (#"{"days": ["wed"]}"#, "1969-12-31T23:30:00Z", true),
            (#"{"days": ["thu"]}"#, "1970-01-01T00:00:00Z", true),
            // After midnight, the day is that on which the hours began.
            (#"{"days": ["fri"], "hours": "22:00-06:00"}"#, "2026-11-21T05:59:00Z", true),
            (#"{"days": ["fri"], "hours": "22:00-06:00"}"#, "2026-11-20T05:59:00Z", false),
            (#"{"days": ["fri"], "hours": "22:00-06:00"}"#, "2026-11-20T22:00:00Z", true),
            (#"{"days": ["fri"], "hours": "22:00-06:00"}"#, "2026-11-21T22:00:00Z", false),
            (#"{"days": ["fri"], "hours": "22:00-00:00"}"#, "2026-11-20T23:59:59.999Z", true),
            (#"{"days": ["fri"], "hours": "22:00-00:00"}"#, "2026-11-21T00:00:00Z", false),
        ])
    func windowIsOpenAtItsTimes(_ window: String, _ time: String, _ isOpen: Bool) throws {
        let route = try EventVariantTests.route("\"window\": \(window)")
        #expect(try verdicts(event(at: time), [route]) == [isOpen ? .taken : .outsideWindow])
    }

    @Test func windowExcludesAnEventWithoutATime() throws {
        let route = try EventVariantTests.route(#""window": {"hours": "00:00-24:00"}"#)
        #expect(try verdicts("{}", [route]) == [.outsideWindow])
    }

    // MARK: Samples

    /// The share from which an event is included, by an implementation of the hash in another language.
    @Test(
        arguments: [
            ("01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11", 0.41803501116787967),
            ("01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c12", 0.27019918918574837), ("a", 0.010753497314070604),
            ("", 0.9576734252420561),
        ]) func sampleDependsOnTheIdAlone(_ id: String, _ position: Double) throws
    {
        #expect(!RouteSample(share: position).takes(id))
        #expect(RouteSample(share: position.nextUp).takes(id))
        #expect(!RouteSample(share: 0).takes(id))
        #expect(RouteSample(share: 1).takes(id))
    }

    @Test func sampleOfATenthTakesATenthOfManyIds() {
        var random = SeededGenerator(seed: 20_261_121)
        let count = (0..<20_000).count { _ in
            RouteSample(share: 0.1).takes(
                EventID(at: .init(timeIntervalSince1970: 1_795_000_000), random: (random.next(), random.next()))
                    .description)
        }
        // Four standard deviations.
        #expect((1830...2170).contains(count), "\(count)")
    }

    @Test(arguments: [("0.25", 0.25), ("\"10%\"", 0.1), ("\"0.5%\"", 0.005), ("1", 1), ("0", 0), ("\"100%\"", 1)])
    func shareIsANumberOrAPercentage(_ text: String, _ share: Double) throws {
        #expect(try EventVariantTests.route("\"sample\": \(text)").sample?.share == share)
    }

    // MARK: Verdicts

    @Test func onlyARouteThatTakesTheEventStopsTheList() throws {
        func route(_ name: String, _ change: (inout Route) -> Void = { _ in }) -> Route {
            var route = Route(
                name: name, match: .everything, destinations: [DestinationName(name)], stop: true)
            change(&route)
            return route
        }
        var window = RouteWindow()
        window.from = Timestamp(seconds: 4_000_000_000)
        let routes = [
            route("off") { $0.isEnabled = false }, route("later") { $0.window = window },
            route("few") { $0.sample = RouteSample(share: 0) }, route("all"), route("rest"),
        ]
        #expect(
            try verdicts(event(), routes)
                == [.disabled, .outsideWindow, .notInSample, .taken, .stopped(by: "all")])
    }

    @Test func mismatchNamesTheFirstFieldAndItsValue() throws {
        let route = Route(name: "r", match: try PatternTests.pattern(#"{"v":["braze"]}"#), destinations: [])
        #expect(try verdicts(event(), [route]).map(\.words) == [#"no; /v is "mce""#])
        #expect(try verdicts("{}", [route]).map(\.words) == ["no; /v is absent"])
    }

    @Test func disabledRouteRequiresNeitherPayloadNorMedia() throws {
        var table = RouteTable(routes: [
            Route(
                name: "r", match: .everything, destinations: [DestinationName("crm")], including: .apns,
                media: .stored(wait: .seconds(1)))
        ])
        let parser = JSONParser()
        let event = try parser.parse(Array(#"{"data":{"media":[{"url":"https://a.example/x"}]}}"#.utf8))
        #expect(try table.includesPayloads && table.decide(event).media == ["https://a.example/x"])
        table.routes[0].isEnabled = false
        #expect(try !table.includesPayloads && table.decide(event).media.isEmpty)
        withExtendedLifetime(parser) {}
    }
}
