import SignalboxConfig
import SignalboxNotification

/// Warnings about a config without errors.
extension RouteCompiler {
    /// Pairs of routes that are compared for redaction; further pairs get no warning.
    private static let mostComparisons = 200_000
    /// Routes with `stop` that later routes are compared with.
    private static let mostStoppers = 200

    mutating func warn(about config: GatewayConfig, _ routes: [Route]) {
        let places = config.routes.map(\.location)
        warnOfUndoneRedactions(routes, places)
        warnOfShadowedRoutes(routes, places)
        guard
            let taker = routes.firstIndex(where: {
                $0.match == .everything && $0.isEnabled && $0.window == nil && $0.sample == nil
            }),
            !config.fallback.isEmpty
        else { return }
        diagnostics.warning(
            at: ConfigLocation(pointer: "/fallback", isKey: true),
            "no event is ever left for the fallback; remove it, or the route's match",
            also: [(places[taker].appending("name"), "this route takes every event")])
    }

    /// Warns of a route that no event reaches, because an earlier one takes all that it could, and stops.
    private mutating func warnOfShadowedRoutes(_ routes: [Route], _ places: [ConfigLocation]) {
        var stoppers: [Int] = []
        var scope = PatternScope()
        for (place, route) in routes.enumerated() {
            if let stopper = stoppers.first(where: { scope.covers(routes[$0].match, route.match) }) {
                diagnostics.warning(
                    at: places[place].appending("name"),
                    "no event ever reaches \"\(route.name)\"; move it before the route that stops, or remove it",
                    also: [(places[stopper].appending("name"), "this route takes all that it matches, and stops")])
            }
            if route.stop, route.isEnabled, route.isAlwaysOpen, stoppers.count < Self.mostStoppers {
                stoppers.append(place)
            }
        }
    }

    // MARK: Redaction

    /// Warns of a `redact` that does not cover everything its route's destinations receive.
    private mutating func warnOfUndoneRedactions(_ routes: [Route], _ places: [ConfigLocation]) {
        var leading: [DestinationName: [Int]] = [:]
        for (place, route) in routes.enumerated() where route.isEnabled {
            for name in Set(route.destinations) { leading[name, default: []].append(place) }
        }
        var scope = PatternScope(budget: 1_000_000)
        var left = Self.mostComparisons
        for (place, route) in routes.enumerated() where route.isEnabled && left > 0 {
            guard let redaction = route.variant?.redaction else { continue }
            if route.including.contains(.apns), !redaction.names(["data", "apns"]) {
                diagnostics.warning(
                    at: places[place].appending("include", isKey: true),
                    "this adds the APNs payload under /data/apns, in which nothing is redacted; redact \"/data/apns\" or "
                        + "pointers into it, or remove \"include\"")
            }
            var seen: Set<DestinationName> = []
            for name in route.destinations where seen.insert(name).inserted {
                let other = leading[name]?.prefix(max(left, 0)).first { other in
                    left -= 1
                    let isDecisive = other < place || other > place && !route.isAlwaysOpen
                    return isDecisive && routes[other].variant?.redaction != redaction
                        && scope.mayOverlap(routes[other].match, route.match)
                }
                guard let other else { continue }
                warn(
                    of: name, reachedBy: routes[other].name, isEarlier: other < place, at: places[place], places[other])
            }
        }
    }

    /// Warns that another route delivers to a destination without the redaction.
    private mutating func warn(
        of name: DestinationName, reachedBy other: String, isEarlier: Bool, at place: ConfigLocation,
        _ otherPlace: ConfigLocation
    ) {
        let words =
            isEarlier
            ? "\"\(name)\" gets an event without this redaction when \"\(other)\" matches it too, since the first route to "
                + "a destination decides; move this route before \"\(other)\", or redact there too"
            : "\"\(name)\" gets an event without this redaction when it is outside this route's sample or window and "
                + "\"\(other)\" matches it; redact there too"
        diagnostics.warning(
            at: place.appending("redact", isKey: true), words,
            also: [(otherPlace.appending("name"), "this route does not redact the same for \"\(name)\"")])
    }
}

extension Route {
    /// Whether the route accepts every event that its pattern matches.
    fileprivate var isAlwaysOpen: Bool { window == nil && (sample?.share ?? 1) == 1 }
}
