import SignalboxActions
import SignalboxJSON
import SignalboxModel

/// What is odd in a config in which nothing is wrong.
extension ConfigReader {
    mutating func lookOver(_ config: GatewayConfig) {
        warnOfUnusedDestinations(config)
        warnOfShadowedRoutes(config.routes)
    }

    private mutating func warnOfUnusedDestinations(_ config: GatewayConfig) {
        let used = Set(
            config.routes.routes.flatMap(\.destinations) + config.routes.fallback
                + config.actions.custom.values.flatMap(\.destinations))
        for (name, member) in roots.compactMap({ $0["destinations"] }).flatMap({ Array($0.members) }) {
            let name = DestinationName(String(decoding: name, as: UTF8.self))
            guard !used.contains(name) else { continue }
            warn(
                place(of: member, isKey: true),
                "nothing ever goes to \"\(name)\"; name it under \"to\" of a route, or remove it")
        }
    }

    // MARK: Routes that nothing reaches

    /// By an earlier route that takes all that they could, and stops.
    private mutating func warnOfShadowedRoutes(_ table: RouteTable) {
        let values = roots.compactMap { $0["routes"] }.flatMap { Array($0.elements) }
        precondition(values.count == table.routes.count, "A route of a good config was not read.")
        let all = zip(values, table.routes).map { (match: $0["match"] ?? $0, value: $0, route: $1) }
        var stoppers: [(match: JSONValue, value: JSONValue, route: Route)] = []
        for candidate in all {
            let stopper = stoppers.first { earlier in
                // Events about the gateway's own doing are asked only of routes that name a type.
                (PatternScope.alwaysNamesType(earlier.match) || !PatternScope.mayNameType(candidate.match))
                    && PatternScope.covers(earlier.match, candidate.match)
            }
            if let stopper {
                warn(
                    place(of: candidate.value["name"] ?? candidate.value),
                    "no event ever reaches \"\(candidate.route.name)\"; move it before the route that stops, or remove it",
                    also: [
                        (
                            place(of: stopper.value["name"] ?? stopper.value),
                            "this route takes all that it matches, and stops"
                        )
                    ])
            }
            let route = candidate.route
            let isAlwaysThere = route.isEnabled && route.window == nil && (route.sample?.share ?? 1) == 1
            // What only looks at a few of many is no proof, but enough: others see as much.
            if route.stop, isAlwaysThere, stoppers.count < 200 { stoppers.append(candidate) }
        }
        let taker = all.first {
            $0.route.match == .everything && $0.route.isEnabled && $0.route.window == nil && $0.route.sample == nil
        }
        if let taker, let fallback = roots[0]["fallback"] {
            warn(
                place(of: fallback, isKey: true),
                "no event is ever left for the fallback; remove it, or the route's match",
                also: [(place(of: taker.value["name"] ?? taker.value), "this route takes every event")])
        }
    }
}

/// Which patterns provably match all that others match, by how they are written.
enum PatternScope {
    /// True when every event that matches `narrow` matches `wide`: each field that `wide` asks for, `narrow` asks for too, and
    /// allows nothing there that `wide` does not. False says nothing.
    static func covers(_ wide: JSONValue, _ narrow: JSONValue) -> Bool {
        wide.members.allSatisfy { key, test in
            guard let other = narrow.member(key) else { return false }
            // Alternatives between fields, which are arrays of patterns.
            if key.equals("$or") { return equal(test, other) }
            if test.isObject { return other.isObject && covers(test, other) }
            guard test.isArray, other.isArray else { return false }
            return other.elements.allSatisfy { condition in test.elements.contains { equal($0, condition) } }
        }
    }

    /// Whether it asks for an event's `type` in any case.
    static func alwaysNamesType(_ pattern: JSONValue) -> Bool { pattern["type"] != nil }

    /// Whether it does in some case.
    static func mayNameType(_ pattern: JSONValue) -> Bool {
        if alwaysNamesType(pattern) { return true }
        guard let alternatives = pattern["$or"], alternatives.isArray else { return false }
        return alternatives.elements.contains { mayNameType($0) }
    }

    private static func equal(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if let number = left.double, let other = right.double {
            return left.integer == right.integer && number == other
        }
        return left.kind == right.kind && JSONText(left).bytes == JSONText(right).bytes
    }
}
