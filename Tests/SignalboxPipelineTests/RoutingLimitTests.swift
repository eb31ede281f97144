import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

/// An event whose routing takes too much work is rejected: it is neither stored nor sent anywhere.
@Suite struct RoutingLimitTests {
    @Test func rejectsAnEventThatIsTooCostlyToRoute() throws {
        let pattern = try Pattern(text: Array(#"{"v":[{"wildcard":"*a*b*"}]}"#.utf8))
        var table = RouteTable(
            routes: [Route(name: "r", match: pattern, destinations: [DestinationName("i")])],
            fallback: [DestinationName("i")])
        table.workLimit = 100
        let parser = JSONParser()
        let event = try parser.parse(Array("{\"v\":\"\(String(repeating: "a", count: 1_000))\"}".utf8))
        let rejection = #expect(throws: Rejection.self) {
            try table.decision(on: event, at: PayloadPosition(line: 3, offset: 7))
        }
        #expect(rejection?.code == .tooCostly)
        #expect(rejection?.place == PayloadPosition(line: 3, offset: 7))
        withExtendedLifetime(parser) {}
    }
}
