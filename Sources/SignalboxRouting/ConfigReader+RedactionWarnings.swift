import SignalboxJSON
import SignalboxNotification

/// Warnings about a `redact` that does not cover everything its route's destinations receive.
extension ConfigReader {
    /// Pairs of routes that are compared; further pairs get no warning.
    private static let mostComparisons = 200_000

    /// `values`: the routes as written in the config.
    mutating func warnOfUndoneRedactions(_ routes: [Route], _ values: [JSONValue]) {
        var places: [DestinationName: [Int]] = [:]
        for (place, route) in routes.enumerated() where route.isEnabled {
            for name in Set(route.destinations) { places[name, default: []].append(place) }
        }
        var scope = PatternScope(budget: 1_000_000)
        var left = Self.mostComparisons
        for (place, route) in routes.enumerated() where route.isEnabled && left > 0 {
            guard let redaction = route.variant?.redaction else { continue }
            warnOfPayload(of: route, redaction, values[place])
            var seen: Set<DestinationName> = []
            for name in route.destinations where seen.insert(name).inserted {
                let other = places[name]?.prefix(max(left, 0)).first { other in
                    left -= 1
                    let isDecisive = other < place || other > place && !route.isAlwaysOpen
                    return isDecisive && routes[other].variant?.redaction != redaction
                        && scope.mayOverlap(routes[other].match, route.match)
                }
                if let other { warn(of: name, at: (place, other), routes, values) }
            }
        }
    }

    /// Warns that another route delivers to a destination without the redaction.
    private mutating func warn(
        of name: DestinationName, at places: (redacting: Int, other: Int), _ routes: [Route], _ values: [JSONValue]
    ) {
        let other = routes[places.other].name
        let words =
            places.other < places.redacting
            ? "\"\(name)\" gets an event without this redaction when \"\(other)\" matches it too, since the first route to "
                + "a destination decides; move this route before \"\(other)\", or redact there too"
            : "\"\(name)\" gets an event without this redaction when it is outside this route's sample or window and "
                + "\"\(other)\" matches it; redact there too"
        let (value, otherValue) = (values[places.redacting], values[places.other])
        warn(
            value["redact"] ?? value, isKey: true, words,
            also: [
                Related(
                    value: otherValue["name"] ?? otherValue,
                    message: "this route does not redact the same for \"\(name)\"")
            ])
    }

    private mutating func warnOfPayload(of route: Route, _ redaction: Redaction, _ value: JSONValue) {
        guard route.including.contains(.apns), !redaction.names(["data", "apns"]) else { return }
        warn(
            value["include"] ?? value, isKey: true,
            "this adds the APNs payload under /data/apns, in which nothing is redacted; redact \"/data/apns\" or "
                + "pointers into it, or remove \"include\"")
    }
}

extension Route {
    /// Whether the route accepts every event that its pattern matches.
    fileprivate var isAlwaysOpen: Bool { window == nil && (sample?.share ?? 1) == 1 }
}
