import SignalboxConfig
import SignalboxRouting
import Testing

/// A `redact` covers only its own route: another route may lead to the same destination without it.
@Suite struct RedactionWarningTests {
    private func warnings(_ routes: String...) throws -> [String] {
        let destinations = #""destinations":{"i":{"builtin":"inbox"},"j":{"builtin":"inbox"}},"fallback":["i","j"]"#
        let config = "{\(destinations),\"routes\":[\(routes.joined(separator: ","))]}"
        return try RoutedConfig(Array(config.utf8)).config.warnings.filter {
            $0.message.contains("redact")
        }.map { "\($0.pointer): \($0.message)" }
    }

    private static let redacting =
        #"{"name":"clean","match":{"data":{"vendor":["braze"]}},"to":["i"],"redact":["/data/custom"]}"#

    @Test func warnsOfAnEarlierRouteToTheSameDestination() throws {
        let all = #"{"name":"all","match":{},"to":["j","i"]}"#
        let found = try warnings(all, Self.redacting)
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(#"/routes/1/redact: "i" gets an event without this redaction when "all" matches"#)
                == true)
        #expect(
            try warnings(#"{"name":"k","match":{"data":{"kind":["alert"]}},"to":["i"]}"#, Self.redacting).count == 1)
        #expect(
            try warnings(#"{"name":"w","match":{"data":{"vendor":["braze","mce"]}},"to":["i"]}"#, Self.redacting).count
                == 1)
    }

    @Test func doesNotWarnIfNoEventGoesBothWays() throws {
        let other = [
            #"{"name":"o","match":{},"to":["j"]}"#, #"{"name":"o","match":{"data":{"vendor":["mce"]}},"to":["i"]}"#,
            #"{"name":"o","match":{},"to":["i"],"enabled":false}"#,
            #"{"name":"o","match":{},"to":["i"],"redact":["/data/custom"]}"#,
            #"{"name":"o","match":{"data":{"vendor":[{"exists":false}]}},"to":["i"]}"#,
        ]
        for route in other { #expect(try warnings(route, Self.redacting).isEmpty, "\(route)") }
        #expect(try warnings(Self.redacting, #"{"name":"all","match":{},"to":["i"]}"#).isEmpty)
    }

    @Test(arguments: [#""sample":0.5"#, #""window":{"hours":"08:00-17:00"}"#])
    func warnsOfALaterRouteIfTheFirstMatchesOnlySomeEvents(_ option: String) throws {
        let sometimes =
            #"{"name":"s","match":{},"to":["i"],"redact":["/data/custom"],\#(option)}"#
        let found = try warnings(sometimes, #"{"name":"all","match":{},"to":["i"]}"#)
        #expect(found.count == 1)
        #expect(found.first?.contains("outside this route's sample or window") == true)
    }

    @Test func warnsOfAnUnredactedPayloadNextToARedaction() throws {
        let route = { (redact: String) in
            #"{"name":"r","match":{},"to":["i"],"include":["apns"],"redact":[\#(redact)]}"#
        }
        #expect(try warnings(route(#""/data/content/title""#)).map { String($0.prefix(18)) } == ["/routes/0/include:"])
        #expect(try warnings(route(#""/data/apns""#)).isEmpty)
        #expect(try warnings(route(#""/data/apns/aps/alert","/data/content""#)).isEmpty)
    }

    /// Routes that all redact and lead to one destination.
    @Test func looksAtManyRoutesWithinABudget() throws {
        let routes = (0..<3_000).map {
            "{\"name\":\"r\($0)\",\"match\":{\"v\":[\($0)]},\"to\":[\"i\"],\"redact\":[\"/data/a\($0)\"]}"
        }
        #expect(try warnings(routes.joined(separator: ",")).isEmpty)
    }
}
