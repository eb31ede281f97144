import SignalboxJSON
import SignalboxNotification

/// What is odd in a config in which nothing is wrong.
extension ConfigReader {
    mutating func lookOver(_ config: GatewayConfig) {
        warnOfUnusedDestinations(config)
        let values = roots.compactMap { $0["routes"] }.flatMap { Array($0.elements) }
        precondition(values.count == config.routes.routes.count, "A route of a good config was not read.")
        warnOfUndoneRedactions(config.routes.routes, values)
        warnOfShadowedRoutes(config.routes, values)
    }

    private mutating func warnOfUnusedDestinations(_ config: GatewayConfig) {
        let used = Set(
            config.routes.routes.flatMap(\.destinations) + config.routes.fallback
                + config.actions.custom.values.flatMap(\.destinations))
        for (name, member) in roots.compactMap({ $0["destinations"] }).flatMap({ Array($0.members) }) {
            let name = DestinationName(String(decoding: name, as: UTF8.self))
            guard !used.contains(name) else { continue }
            warn(
                member, isKey: true,
                "nothing ever goes to \"\(name)\"; name it under \"to\" of a route, or remove it")
        }
    }

    // MARK: Routes that nothing reaches

    /// By an earlier route that takes all that they could, and stops.
    private mutating func warnOfShadowedRoutes(_ table: RouteTable, _ values: [JSONValue]) {
        let all = zip(values, table.routes).map { (value: $0, route: $1) }
        var stoppers: [(value: JSONValue, route: Route)] = []
        var scope = PatternScope()
        for candidate in all {
            if let stopper = stoppers.first(where: { scope.covers($0.route.match, candidate.route.match) }) {
                let words = "this route takes all that it matches, and stops"
                warn(
                    candidate.value["name"] ?? candidate.value,
                    "no event ever reaches \"\(candidate.route.name)\"; move it before the route that stops, or remove it",
                    also: [Related(value: stopper.value["name"] ?? stopper.value, message: words)])
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
            let words = "this route takes every event"
            warn(
                fallback, isKey: true, "no event is ever left for the fallback; remove it, or the route's match",
                also: [Related(value: taker.value["name"] ?? taker.value, message: words)])
        }
    }
}
