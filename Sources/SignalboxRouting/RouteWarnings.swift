import SignalboxConfig
import SignalboxNotification

/// Warnings about a config without errors. They never change the routes. Both comparisons are bounded, so a large
/// config gets fewer warnings instead of a slow start.
extension RouteCompiler {
    /// The most pairs of routes that are compared for redaction; further pairs get no warning.
    private static let mostComparisons = 200_000
    /// The first routes with `stop`, with which later routes are compared.
    private static let mostStoppers = 200

    /// Records all warnings. `routes`: compiled from the routes of the config, in the same order. Call it only after
    /// the routes compiled without an error.
    mutating func warn(about config: GatewayConfig, _ routes: [Route]) {
        warnOfUselessCertificates(config)
        warnOfUnsharedFiles(config)
        let locations = config.routes.map(\.location)
        warnOfUndoneRedactions(routes, locations)
        warnOfShadowedRoutes(routes, locations)
        guard
            let taker = routes.firstIndex(where: {
                $0.match == .everything && $0.isEnabled && $0.window == nil && $0.sample == nil
            }),
            !config.fallback.isEmpty
        else { return }
        diagnostics.warning(
            at: ConfigLocation(pointer: "/fallback", isKey: true),
            "no event reaches the fallback; remove it, or the route's match",
            also: [(locations[taker].appending("name"), "this route matches every event")])
    }

    /// Warns of a database whose gateways cannot serve the files of each other. Not an error: the command line of
    /// `serve` may name another store.
    private mutating func warnOfUnsharedFiles(_ config: GatewayConfig) {
        guard config.gateway.store?.url != nil, config.media.directory == nil else { return }
        for route in config.routes {
            guard case .stored = route.media else { continue }
            diagnostics.warning(
                at: route.location.appending("media"),
                "serve rejects stored files of a database without a directory that all gateways share; add "
                    + "\"media.directory\"")
            return
        }
    }

    /// Warns of a route that no event reaches, because an earlier route with `stop` takes every event that it
    /// matches. Compares each route with the first ``mostStoppers`` routes that always stop, because the work is
    /// quadratic.
    private mutating func warnOfShadowedRoutes(_ routes: [Route], _ locations: [ConfigLocation]) {
        var stoppers: [Int] = []
        var scope = PatternScope()
        for (position, route) in routes.enumerated() {
            if let stopper = stoppers.first(where: { scope.covers(routes[$0].match, route.match) }) {
                diagnostics.warning(
                    at: locations[position].appending("name"),
                    "no event ever reaches \"\(route.name)\"; move it before the route that stops, or remove it",
                    also: [
                        (
                            locations[stopper].appending("name"),
                            "this route matches the same events first and has \"stop\""
                        )
                    ])
            }
            if route.stop, route.isEnabled, route.isAlwaysOpen, stoppers.count < Self.mostStoppers {
                stoppers.append(position)
            }
        }
    }

    // MARK: Redaction

    /// Warns of a `redact` that does not apply to every event that its route's destinations receive.
    private mutating func warnOfUndoneRedactions(_ routes: [Route], _ locations: [ConfigLocation]) {
        var leading: [DestinationName: [Int]] = [:]
        for (position, route) in routes.enumerated() where route.isEnabled {
            for name in Set(route.destinations) { leading[name, default: []].append(position) }
        }
        var scope = PatternScope(budget: 1_000_000)
        var left = Self.mostComparisons
        for (position, route) in routes.enumerated() where route.isEnabled && left > 0 {
            guard let redaction = route.variant?.redaction else { continue }
            if route.including.contains(.apns), !redaction.names(["data", "apns"]) {
                diagnostics.warning(
                    at: locations[position].appending("include", isKey: true),
                    "this adds the APNs payload under /data/apns, in which nothing is redacted; redact \"/data/apns\" or "
                        + "pointers into it, or remove \"include\"")
            }
            var seen: Set<DestinationName> = []
            for name in route.destinations where seen.insert(name).inserted {
                let other = leading[name]?.prefix(max(left, 0)).first { other in
                    left -= 1
                    let isDecisive = other < position || other > position && !route.isAlwaysOpen
                    return isDecisive && routes[other].variant?.redaction != redaction
                        && scope.mayOverlap(routes[other].match, route.match)
                }
                guard let other else { continue }
                warn(
                    of: name, reachedBy: routes[other].name, isEarlier: other < position, at: locations[position],
                    locations[other])
            }
        }
    }

    /// Warns that another route delivers to a destination without the redaction. The two messages name the two
    /// remedies: another order of the routes, or the same redaction in both.
    private mutating func warn(
        of name: DestinationName, reachedBy other: String, isEarlier: Bool, at location: ConfigLocation,
        _ otherLocation: ConfigLocation
    ) {
        let words =
            isEarlier
            ? "\"\(name)\" gets an event without this redaction when \"\(other)\" matches it too, since the first route to "
                + "a destination decides; move this route before \"\(other)\", or redact there too"
            : "\"\(name)\" gets an event without this redaction when it is outside this route's sample or window and "
                + "\"\(other)\" matches it; redact there too"
        diagnostics.warning(
            at: location.appending("redact", isKey: true), words,
            also: [(otherLocation.appending("name"), "this route does not redact the same for \"\(name)\"")])
    }
}

extension Route {
    /// Whether the route accepts every event that its pattern matches.
    fileprivate var isAlwaysOpen: Bool { window == nil && (sample?.share ?? 1) == 1 }
}
