import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct RouteTableTests {
    private func decide(_ event: String, _ routes: [Route], fallback: [String] = []) throws -> RouteTable.Decision {
        let parser = JSONParser()
        let table = RouteTable(routes: routes, fallback: fallback.map { DestinationName($0) })
        return try withExtendedLifetime(parser) { try table.decide(try parser.parse(Array(event.utf8))) }
    }

    private func route(_ name: String, _ pattern: String, to: [String], stop: Bool = false) throws -> Route {
        Route(
            name: name, match: try PatternTests.pattern(pattern), destinations: to.map { DestinationName($0) },
            stop: stop)
    }

    @Test func everyMatchingRouteAppliesInOrder() throws {
        let decision = try decide(
            #"{"v":"mce"}"#,
            [
                route("b", #"{"v":["mce"]}"#, to: ["two", "one"]), route("x", #"{"v":["braze"]}"#, to: ["never"]),
                route("a", "{}", to: ["three"]),
            ])
        #expect(decision.routes == ["b", "a"])
        #expect(decision.destinations.map(\.name) == ["two", "one", "three"])
    }

    @Test func destinationIsNamedOnce() throws {
        let decision = try decide(
            "{}", [route("a", "{}", to: ["x", "y", "x"]), route("b", "{}", to: ["z", "y"])], fallback: ["x"])
        #expect(decision.routes == ["a", "b"])
        #expect(decision.destinations.map(\.name) == ["x", "y", "z"])
    }

    /// Each of many routes may differ in one large value.
    @Test(arguments: [
        (#""\#(String(repeating: "a", count: 500))""#, #""\#(String(repeating: "a", count: 500))""#),
        (#""\#(String(repeating: "a", count: 501))""#, #""\#(String(repeating: "a", count: 499))…""#),
        (#""\#(String(repeating: "é", count: 251))""#, #""\#(String(repeating: "é", count: 249))…""#),
        (#"["\#(String(repeating: "a", count: 500))"]"#, #""[\"\#(String(repeating: "a", count: 497))…""#),
    ])
    func aVerdictHoldsTheBeginningOfALongValue(_ value: String, _ expected: String) throws {
        let table = RouteTable(routes: [try route("r", #"{"v":["x"]}"#, to: [])])
        let parser = JSONParser()
        let event = try parser.parse(Array(#"{"v":\#(value)}"#.utf8))
        let verdicts = try withExtendedLifetime(parser) { try table.verdicts(on: event) }
        guard case .mismatch("/v", let found)? = verdicts.first?.verdict else {
            Issue.record("\(verdicts)")
            return
        }
        #expect(found?.string == expected)
    }

    @Test func stopEndsTheListOnlyForEventsThatMatch() throws {
        let routes = [
            try route("first", #"{"v":["mce"]}"#, to: ["one"], stop: true), try route("second", "{}", to: ["two"]),
        ]
        #expect(try decide(#"{"v":"mce"}"#, routes).routes == ["first"])
        #expect(try decide(#"{"v":"mce"}"#, routes).destinations.map(\.name) == ["one"])
        #expect(try decide(#"{"v":"braze"}"#, routes).routes == ["second"])
    }

    @Test func fallbackTakesUnmatchedEvents() throws {
        let routes = [try route("first", #"{"v":["mce"]}"#, to: ["one"])]
        let missed = try decide(#"{"v":"braze"}"#, routes, fallback: ["rest", "rest"])
        #expect(missed.routes.isEmpty)
        #expect(missed.destinations.map(\.name) == ["rest"])
        #expect(try decide(#"{"v":"mce"}"#, routes, fallback: ["rest"]).destinations.map(\.name) == ["one"])
        #expect(try decide(#"{"v":"braze"}"#, routes).destinations.isEmpty)
    }

    /// A file is downloaded only if a target receives it.
    @Test func mediaAreThoseOfTargetsWithStoredFiles() throws {
        let event = #"{"data":{"media":[{"url":"https://x"}]}}"#
        let link = try route("link", "{}", to: ["x"])
        let stored = Route(
            name: "stored", match: .everything, destinations: link.destinations, media: .stored(wait: .seconds(1)))
        #expect(try decide(event, [link, stored]).media.isEmpty)
        #expect(try decide(event, [stored, link]).media == ["https://x"])
    }

    @Test func decisionWithoutRoutesIsEmpty() throws {
        #expect(try decide("{}", []) == RouteTable.Decision())
    }

    /// The gateway then does not read events, so the decision must be that on each of them.
    @Test func uniformDecisionIsTheDecisionOnEveryEvent() throws {
        let everything = try [route("a", "{}", to: ["x", "y"]), route("b", "{}", to: ["z", "y"], stop: true)]
        var off = try route("off", #"{"v":["mce"]}"#, to: ["never"])
        off.isEnabled = false
        for routes in [[], everything, [off] + everything] {
            var table = RouteTable(routes: routes, fallback: [DestinationName("rest")])
            table.payloadTakers = [DestinationName("z")]
            let parser = JSONParser()
            for event in ["{}", #"{"v":"mce","data":{"media":[{"url":"https://x"}]}}"#] {
                let decision = try withExtendedLifetime(parser) {
                    try table.decide(try parser.parse(Array(event.utf8)))
                }
                #expect(table.uniformDecision == decision)
            }
        }
    }

    @Test func decisionThatDependsOnTheEventIsNotUniform() throws {
        let plain = try route("a", "{}", to: ["x"])
        var sampled = plain
        sampled.sample = RouteSample(share: 0.5)
        var limited = plain
        limited.window = RouteWindow()
        var varied = plain
        varied.variant = EventVariant()
        let stored = Route(
            name: "m", match: .everything, destinations: plain.destinations, media: .stored(wait: .seconds(1)))
        let none = Route(name: "n", match: .everything, destinations: plain.destinations, media: .none)
        let payload = Route(name: "p", match: .everything, destinations: plain.destinations, including: .apns)
        let asking = try [route("v", #"{"v":["mce"]}"#, to: ["y"]), sampled, limited, varied, stored, none, payload]
        for one in asking {
            #expect(RouteTable(routes: [plain, one]).uniformDecision == nil, "\(one.name)")
        }
        var ordered = RouteTable(routes: [plain])
        ordered.orderings[DestinationName("x")] = .init()
        #expect(ordered.uniformDecision == nil)
    }
}

/// Orders, schedules and events about the gateway itself.
@Suite struct RouteTargetTests {
    private let crm = DestinationName("crm")

    private func targets(_ event: String, _ table: RouteTable, operational: Bool = false) throws -> [RouteTable.Target]
    {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            if operational { return table.decideOperational(Array(event.utf8), with: parser).targets }
            return try table.decide(try parser.parse(Array(event.utf8))).targets
        }
    }

    private func route(_ name: String, _ pattern: String, ignoring: ScheduleParts = []) throws -> Route {
        Route(
            name: name, match: try PatternTests.pattern(pattern), destinations: [DestinationName(name)],
            ignoring: ignoring)
    }

    @Test(arguments: [
        ("/data/user", #"{"data":{"user":"7"}}"#, "7"), ("/data/user", #"{"data":{"user":7}}"#, "7"),
        ("/data/user", #"{"data":{"user":null}}"#, "null"),
        ("/data/user", #"{"data":{"user":{"a":[1]}}}"#, #"{"a":[1]}"#),
        ("/data/user", #"{"data":{}}"#, ""), ("/data/user", #"{"data":{"user":""}}"#, ""),
        ("", #"{"a":1}"#, #"{"a":1}"#),
        ("/data/user", #"{"data":{"user":"a\u0000b"}}"#, "a\u{FFFD}b"),
    ]) func orderKeyIsTheValueAtItsPointer(pointer: String, event: String, key: String) throws {
        var table = RouteTable(fallback: [crm])
        table.orderings[crm] = .init(key: JSONPointer(pointer))
        #expect(try targets(event, table).map(\.orderKey) == [key])
    }

    @Test func orderKeyIsTheSubjectWithoutAPointer() throws {
        var table = RouteTable(fallback: [crm])
        table.orderings[crm] = .init()
        #expect(try targets(#"{"subject":"mce/alert"}"#, table).map(\.orderKey) == ["mce/alert"])
        #expect(try targets("{}", table).map(\.orderKey) == [""])
    }

    @Test func targetWithoutOrderHasNoKey() throws {
        #expect(try targets(#"{"subject":"x"}"#, RouteTable(fallback: [crm])).map(\.orderKey) == [nil])
    }

    @Test func firstRouteToADestinationDecidesItsSchedule() throws {
        let everything = try PatternTests.pattern("{}")
        let table = RouteTable(
            routes: [
                Route(name: "a", match: everything, destinations: [crm], ignoring: [.notBefore]),
                Route(name: "b", match: everything, destinations: [crm, DestinationName("x")], ignoring: [.notAfter]),
            ])
        #expect(try targets("{}", table).map(\.ignoring) == [.notBefore, .notAfter])
    }

    @Test func fallbackKeepsTheSchedule() throws {
        #expect(try targets("{}", RouteTable(fallback: [crm])).map(\.ignoring) == [[]])
    }

    @Test func operationalEventsMatchOnlyRoutesThatNameTheirType() throws {
        let dead = #"{"type":"io.signalbox.delivery.dead","subject":"s"}"#
        let table = RouteTable(
            routes: [
                try route("everything", "{}"), try route("subject", #"{"subject":["s"]}"#),
                try route("type", #"{"type":["io.signalbox.delivery.dead"]}"#),
                try route("other", #"{"type":["io.signalbox.notification.received"]}"#),
                try route("both", #"{"type":[{"prefix":"io.signalbox."}],"subject":["s"]}"#),
            ], fallback: [crm])
        #expect(try targets(dead, table, operational: true).map(\.destination.name) == ["type", "both"])
        #expect(try targets(dead, RouteTable(fallback: [crm]), operational: true).isEmpty)
    }

    @Test func operationalEventsMatchOnlyAlternativesThatNameTheirType() throws {
        let dead = #"{"type":"io.signalbox.delivery.dead","subject":"s"}"#
        let table = RouteTable(routes: [
            try route("subject", #"{"$or":[{"type":["other"]},{"subject":["s"]}]}"#),
            try route("type", #"{"$or":[{"type":[{"suffix":".dead"}]},{"subject":["t"]}]}"#),
        ])
        #expect(try targets(dead, table, operational: true).map(\.destination.name) == ["type"])
        #expect(try targets(dead, table).map(\.destination.name) == ["subject", "type"])
    }

    @Test func verdictsOnOperationalEventsNameTheirType() throws {
        let dead = #"{"type":"io.signalbox.delivery.dead","subject":"s"}"#
        let table = RouteTable(
            routes: [
                try route("everything", "{}"), try route("other", #"{"subject":["t"]}"#),
                try route("subject", #"{"$or":[{"type":["other"]},{"subject":["s"]}]}"#),
                try route("type", #"{"type":["io.signalbox.delivery.dead"]}"#),
            ], fallback: [crm])
        let parser = JSONParser()
        let event = try parser.parse(Array(dead.utf8))
        let (verdicts, decision, unmatched) = try withExtendedLifetime(parser) {
            (
                try table.verdicts(on: event, isOperational: true), try table.decide(event, isOperational: true),
                try RouteTable(fallback: [crm]).decide(event, isOperational: true)
            )
        }
        let unnamed = #"no; /type is "io.signalbox.delivery.dead""#
        #expect(verdicts.map { $0.verdict.words } == [unnamed, #"no; /subject is "s""#, unnamed, "yes"])
        #expect(decision.destinations.map(\.name) == ["type"])
        #expect(unmatched.destinations.isEmpty)
    }

    @Test func routesThatAreSetLaterMatch() throws {
        var table = RouteTable()
        table.routes = [try route("a", #"{"v":["mce"]}"#)]
        #expect(try targets(#"{"v":"mce"}"#, table).map(\.destination.name) == ["a"])
        table.routes = []
        #expect(try targets(#"{"v":"mce"}"#, table).isEmpty)
    }
}
