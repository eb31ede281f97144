import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxRouting

/// Routes like those of a team with many campaigns, and parsed events of about a kilobyte to match them.
/// docs/benchmarks.md has the results.
public struct RouteMeasure {
    /// Own the memory of the events.
    private let parsers: [JSONParser]
    /// 32 of them, each of which matches one route.
    private let events: [JSONValue]
    /// The routes as the gateway decides with them.
    private let table: RouteTable
    /// The patterns alone.
    private let matcher: RouteMatcher

    /// How many kinds of routes there are; every tenth route is of one kind.
    public static let kinds = 10

    /// `routes`: the number of routes. `kind`: makes routes of this kind only. Throws if the config of these
    /// routes is invalid. Compiles all patterns, which is not part of a measurement.
    public init(routes: Int, kind: Int? = nil) throws {
        let texts = (0..<routes).map { number in
            "{\"name\":\"r\(number)\",\"to\":[\"i\"],\"match\":{\(Self.type),\(Self.pattern(number, kind: kind ?? number % Self.kinds))}}"
        }
        let config =
            "{\"destinations\":{\"i\":{\"builtin\":\"inbox\"}},\"routes\":[\(texts.joined(separator: ","))]}"
        table = try RoutedConfig(Array(config.utf8)).routes
        matcher = RouteMatcher(table.routes.map(\.match))
        var parsers: [JSONParser] = []
        // Each matches one route, in an order that no cache predicts.
        events = try (0..<32).map { number in
            let parser = JSONParser()
            parsers.append(parser)
            return try parser.parse(Array(Self.event(number &* 7_919 % routes).utf8))
        }
        self.parsers = parsers
    }

    /// Matches events one after the other. Returns how many routes matched. Uses the compiled matcher.
    public func match(_ count: Int) -> Int {
        withExtendedLifetime(parsers) {
            var matches = 0
            for number in 0..<count {
                var work = MatchWork()
                matches += (try? matcher.matches(of: events[number % events.count], work: &work).count) ?? 0
            }
            return matches
        }
    }

    /// Decides the deliveries of events, one after the other. Returns their number. Includes windows, samples and the
    /// list of targets, unlike ``match(_:)``.
    public func decide(_ count: Int) -> Int {
        withExtendedLifetime(parsers) {
            var targets = 0
            for number in 0..<count {
                targets += (try? table.decide(events[number % events.count]).targets.count) ?? 0
            }
            return targets
        }
    }

    /// Evaluates every pattern separately. Returns how many routes matched. The reference that the matcher is
    /// compared with; its result must equal that of ``match(_:)``.
    public func matchOneByOne(_ count: Int) -> Int {
        withExtendedLifetime(parsers) {
            var matches = 0
            for number in 0..<count {
                matches += table.routes.count { (try? $0.match.matches(events[number % events.count])) ?? false }
            }
            return matches
        }
    }

    /// The size of an event. The events differ in their numbers only.
    public static var eventBytes: Int { event(0).utf8.count }

    /// The members of a pattern in JSON, without the type.
    private static func pattern(_ number: Int, kind: Int) -> String {
        let id = String(format: "%05d", number)
        let app = "\"source\":[\"/signalbox/demo/app-\(id)\"]"
        let vendor = vendors[number % vendors.count]
        let (push, link) = ("\"type\":[\"push\"]", "\"type\":[\"deepLink\"]")
        switch kind {
        case 0, 1: return "\(app),\"data\":{\"vendor\":[\"\(vendor)\"],\"kind\":[\"alert\"],\"campaign\":{\(push)}}"
        case 2, 3: return "\"data\":{\"vendor\":[\"\(vendor)\"],\"campaign\":{\"id\":[\"cmp-\(id)\"],\(push)}}"
        case 4:
            return
                "\"data\":{\"campaign\":{\"id\":[\"cmp-\(id)\",\"old-\(id)\"]},\"kind\":[{\"anything-but\":\"silent\"}],\"action\":{\(link)}}"
        case 5:
            return
                "\"data\":{\"platform\":[\"apns\"],\"campaign\":{\"name\":[{\"prefix\":\"spring-\(id)-\"}]},\"custom\":{\"cohort\":[\"a\",\"b\"]}}"
        case 6:
            return
                "\"data\":{\"vendor\":[\"\(vendor)\"],\"custom\":{\"price\":[{\"numeric\":[\">=\",\(number),\"<\",\(number + 1)]}]},\"action\":{\(link)}}"
        case 7:
            return
                "\"data\":{\"campaign\":{\(push)},\"action\":{\(link),\"value\":[{\"wildcard\":\"shop://*sku=\(id)*\"}]}}"
        case 8: return "\"data\":{\"tag\":[{\"equals-ignore-case\":\"Daily-Show-\(id)\"}],\"campaign\":{\(push)}}"
        default:
            return
                "\(app),\"data\":{\"kind\":[{\"anything-but\":\"silent\"}],\"campaign\":{\"id\":[{\"exists\":true}]},\"action\":{\(link)}}"
        }
    }

    /// The condition that excludes taps.
    private static let type = "\"type\":[\"io.signalbox.notification.received\"]"
    /// Vendors of the chain and of the catalogue.
    private static let vendors = ["synerise", "sourse", "mce", "braze", "granify", "airship", "onesignal", "unknown"]

    /// A structured CloudEvent that matches the route with this number.
    private static func event(_ number: Int) -> String {
        let id = String(format: "%05d", number)
        return """
            {"specversion":"1.0","id":"01939b4e-7c1a-7d2e-9a54-0c8f6f1\(id)","source":"/signalbox/demo/app-\(id)",\
            "type":"io.signalbox.notification.received","subject":"\(vendors[number % vendors.count])/alert",\
            "time":"2026-11-20T21:29:00.123Z","datacontenttype":"application/json",\
            "dataschema":"urn:signalbox:schema:notification:1","data":{"vendor":"\(vendors[number % vendors.count])",\
            "detection":{"evidence":["/notification-action"],"also":[]},"platform":"apns","kind":"alert",\
            "campaign":{"id":"cmp-\(id)","name":"spring-\(id)-sale","type":"push","variant":"b","messageId":"m-\(id)"},\
            "content":{"title":"Welcome to Boston","body":"Your gate is B12, boarding ends at noon","sound":"default","badge":1},\
            "action":{"type":"deepLink","value":"shop://product?sku=\(id)&from=push"},\
            "media":[{"url":"https://cdn.example.com/\(id).png","role":"attachment","status":"pending"}],\
            "schedule":{"mode":"immediate"},"target":{"token":"sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"},\
            "tag":"DAILY-SHOW-\(id)","custom":{"price":\(number).5,"cohort":"b","sku":"\(id)"}}}
            """
    }
}
