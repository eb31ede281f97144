package import SignalboxJSON
package import SignalboxModel

/// All routes in order, and where events go that no route takes.
package struct RouteTable: Sendable, Equatable {
    package var routes: [Route] = []
    package var fallback: [DestinationName] = []

    package init(routes: [Route] = [], fallback: [DestinationName] = []) {
        self.routes = routes
        self.fallback = fallback
    }

    /// What the routes decide about one event.
    package struct Decision: Sendable, Equatable {
        /// Names of the routes that matched, in order.
        package var routes: [String] = []
        /// Each destination once, in the order in which routes named it.
        package var destinations: [DestinationName] = []

        package init() {}
    }

    /// Asks every route up to the first matching one that says stop; the fallback counts when none matched.
    package func decide(_ event: JSONValue) -> Decision {
        var decision = Decision()
        for route in routes where route.match.matches(event) {
            decision.routes.append(route.name)
            decision.add(route.destinations)
            if route.stop { break }
        }
        if decision.routes.isEmpty { decision.add(fallback) }
        return decision
    }
}

/// A pattern over events, and the destinations that matching events go to.
package struct Route: Sendable, Equatable {
    package let name: String
    package let match: Pattern
    package let destinations: [DestinationName]
    /// Ends the list for the events that match.
    package let stop: Bool

    package init(name: String, match: Pattern, destinations: [DestinationName], stop: Bool = false) {
        self.name = name
        self.match = match
        self.destinations = destinations
        self.stop = stop
    }
}

extension RouteTable.Decision {
    fileprivate mutating func add(_ names: [DestinationName]) {
        for name in names where !destinations.contains(name) { destinations.append(name) }
    }
}
