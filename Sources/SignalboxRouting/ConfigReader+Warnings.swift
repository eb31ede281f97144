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
        let all = zip(values, table.routes).map { (value: $0, route: $1) }
        var stoppers: [(value: JSONValue, route: Route)] = []
        var scope = PatternScope()
        for candidate in all {
            let stopper = stoppers.first { scope.covers($0.route.match, candidate.route.match) }
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
