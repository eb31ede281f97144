import SignalboxJSON
import SignalboxModel
import SignalboxRouting
import Testing

@Suite struct RouteTableTests {
    private func decide(_ event: String, _ routes: [Route], fallback: [String] = []) throws -> RouteTable.Decision {
        let parser = JSONParser()
        let table = RouteTable(routes: routes, fallback: fallback.map { DestinationName($0) })
        return try withExtendedLifetime(parser) { table.decide(try parser.parse(Array(event.utf8))) }
    }

    private func route(_ name: String, _ pattern: String, to: [String], stop: Bool = false) throws -> Route {
        Route(
            name: name, match: try PatternTests.pattern(pattern), destinations: to.map { DestinationName($0) },
            stop: stop)
    }

    @Test func everyRouteThatMatchesAppliesInOrder() throws {
        let decision = try decide(
            #"{"v":"mce"}"#,
            [
                route("b", #"{"v":["mce"]}"#, to: ["two", "one"]), route("x", #"{"v":["braze"]}"#, to: ["never"]),
                route("a", "{}", to: ["three"]),
            ])
        #expect(decision.routes == ["b", "a"])
        #expect(decision.destinations.map(\.name) == ["two", "one", "three"])
    }

    @Test func aDestinationIsNamedOnce() throws {
        let decision = try decide(
            "{}", [route("a", "{}", to: ["x", "y", "x"]), route("b", "{}", to: ["z", "y"])], fallback: ["x"])
        #expect(decision.routes == ["a", "b"])
        #expect(decision.destinations.map(\.name) == ["x", "y", "z"])
    }

    @Test func stopEndsTheListOnlyForEventsThatMatch() throws {
        let routes = [
            try route("first", #"{"v":["mce"]}"#, to: ["one"], stop: true), try route("second", "{}", to: ["two"]),
        ]
        #expect(try decide(#"{"v":"mce"}"#, routes).routes == ["first"])
        #expect(try decide(#"{"v":"mce"}"#, routes).destinations.map(\.name) == ["one"])
        #expect(try decide(#"{"v":"braze"}"#, routes).routes == ["second"])
    }

    @Test func theFallbackTakesWhatNoRouteTook() throws {
        let routes = [try route("first", #"{"v":["mce"]}"#, to: ["one"])]
        let missed = try decide(#"{"v":"braze"}"#, routes, fallback: ["rest", "rest"])
        #expect(missed.routes.isEmpty)
        #expect(missed.destinations.map(\.name) == ["rest"])
        #expect(try decide(#"{"v":"mce"}"#, routes, fallback: ["rest"]).destinations.map(\.name) == ["one"])
        #expect(try decide(#"{"v":"braze"}"#, routes).destinations.isEmpty)
    }

    @Test func withoutRoutesNothingIsDecided() throws {
        #expect(try decide("{}", []) == RouteTable.Decision())
    }
}
