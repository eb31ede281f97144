package import SignalboxConfig
package import SignalboxJSON
package import SignalboxNotification

/// All routes in order, and where events go that no route takes.
package struct RouteTable: Sendable, Equatable {
    package var routes: [Route] = [] { didSet { patterns = CompiledPatterns(routes) } }
    package var fallback: [DestinationName] = []
    /// Whether some route wants the payload as it should be shown.
    package var includesPayloads: Bool { routes.contains { $0.isEnabled && $0.including.contains(.apns) } }
    /// What the deliveries to a destination are ordered by, where they are.
    package var orderings: [DestinationName: Destination.Ordering] = [:]
    /// Destinations that want the payload as it came.
    package var payloadTakers: Set<DestinationName> = []
    /// The work limit for one event.
    package var workLimit = MatchWork.limit
    private var patterns: CompiledPatterns

    package init(routes: [Route] = [], fallback: [DestinationName] = []) {
        self.routes = routes
        self.fallback = fallback
        patterns = CompiledPatterns(routes)
    }

    /// Made of the routes, and so equal where they are.
    private struct CompiledPatterns: Sendable, Equatable {
        let matcher: RouteMatcher

        init(_ routes: [Route]) { matcher = RouteMatcher(routes.map(\.match)) }

        static func == (left: Self, right: Self) -> Bool { true }
    }

    /// What the routes decide about one event.
    package struct Decision: Sendable, Equatable {
        /// Names of the routes that matched, in order.
        package var routes: [String] = []
        /// Each destination once, in the order in which routes named it.
        package fileprivate(set) var targets: [Target] = []
        /// The names of ``targets``.
        fileprivate var named: Set<DestinationName> = []

        /// Whether one of them wants the payload as it came.
        package var wantsPayload = false

        /// Where the event's files are, when one of the targets wants them: each once, in the event's order.
        package var media: [String] = []

        package var destinations: [DestinationName] { targets.map(\.destination) }

        package init() {}
    }

    /// Where an event goes. What its schedule says counts unless the first route that leads there ignores it; that route
    /// also says what the event includes, how it has its media, and what is made of it.
    package struct Target: Sendable, Equatable {
        package let destination: DestinationName
        package let ignoring: ScheduleParts
        package let including: EventParts
        package let media: RouteMedia
        /// The first route that leads there; nil for a destination that none named.
        package let route: String?
        /// What that route makes of the event.
        package let shape: EventShape?
        /// Among equals one is sent after the other; nil for no order.
        package let orderKey: String?
    }

    /// Collects the routes that match, up to the first with `stop`; the fallback counts when none matched. Throws when
    /// that takes more work than one event may take.
    package func decide(_ event: JSONValue) throws(RoutingTooCostly) -> Decision {
        var work = MatchWork(limit: workLimit)
        return try decide(event, orElse: fallback, &work)
    }

    /// As above, with destinations that get the event whatever the routes say. `hasPayload`: false for an event that is
    /// not made of a payload, or of one that was not kept; those who want payloads do not get it.
    package func decide(
        _ event: JSONValue, adding destinations: [DestinationName], hasPayload: Bool
    ) throws(RoutingTooCostly) -> Decision {
        var work = MatchWork(limit: workLimit)
        var decision = try decide(event, orElse: destinations.isEmpty ? fallback : [], &work)
        add(destinations, of: event, to: &decision)
        if !hasPayload {
            decision.targets.removeAll { payloadTakers.contains($0.destination) }
            decision.named.subtract(payloadTakers)
            decision.wantsPayload = false
        }
        return decision
    }

    /// As above, for an event about the gateway's own doing: only routes whose pattern names a `type` get those, on the
    /// way through `$or` on which it matches, and no fallback does.
    package func decideOperational(_ event: JSONValue) -> Decision {
        // The gateway makes these events itself: a few hundred bytes without arrays.
        var work = MatchWork(limit: .max)
        do throws(RoutingTooCostly) {
            return try decide(event, namingType: true, orElse: [], &work)
        } catch {
            preconditionFailure("No work exceeds this limit.")
        }
    }

    /// What is decided about every event, where nothing is asked of any: all routes take everything, as it is, and no
    /// destination has an order. Nil otherwise. Goes through all routes.
    package var uniformDecision: Decision? {
        guard orderings.isEmpty, routes.allSatisfy(\.asksNothing) else { return nil }
        // So any will do.
        let parser = JSONParser()
        return (try? parser.parse(Array("{}".utf8))).flatMap { try? decide($0) }
    }

    /// Whether some destination gets something else than the event as it is.
    package var givesShapes: Bool { routes.contains { $0.shape != nil } }

    private func decide(
        _ event: JSONValue, namingType: Bool = false, orElse fallback: [DestinationName], _ work: inout MatchWork
    ) throws(RoutingTooCostly) -> Decision {
        var decision = Decision()
        for place in try patterns.matcher.matches(of: event, namingType: namingType, work: &work) {
            let route = routes[place]
            guard route.admits(event) else { continue }
            decision.routes.append(route.name)
            add(route.destinations, by: route, of: event, to: &decision)
            if route.stop { break }
        }
        if decision.routes.isEmpty { add(fallback, of: event, to: &decision) }
        return decision
    }

    private func add(
        _ names: [DestinationName], by route: Route? = nil, of event: JSONValue, to decision: inout Decision
    ) {
        if case .stored = route?.media, decision.media.isEmpty { decision.media = RouteMedia.urls(in: event) }
        for name in names where decision.named.insert(name).inserted {
            let orderKey = orderings[name].map { $0.key(of: event) }
            if payloadTakers.contains(name) { decision.wantsPayload = true }
            decision.targets.append(
                Target(
                    destination: name, ignoring: route?.ignoring ?? [], including: route?.including ?? [],
                    media: route?.media ?? .link, route: route?.name, shape: route?.shape, orderKey: orderKey))
        }
    }
}

extension Destination.Ordering {
    /// What nothing stands for makes a key of its own, as any text does; an object or list is its JSON text.
    fileprivate func key(of event: JSONValue) -> String {
        guard let value = key.map({ $0.value(in: event) }) ?? event["subject"] else { return "" }
        // SQLite's functions end a text at NUL, so keys must not contain one.
        return (value.string ?? JSONText(value).string).replacing("\0", with: "\u{FFFD}")
    }
}

/// A pattern over events, and the destinations that matching events go to.
package struct Route: Sendable, Equatable {
    package let name: String
    package let match: Pattern
    package let destinations: [DestinationName]
    /// Ends the list for the events that match.
    package let stop: Bool
    /// Parts of an event's schedule that do not count here.
    package let ignoring: ScheduleParts
    package let including: EventParts
    package let media: RouteMedia
    /// When false, it is as if it were not there.
    package var isEnabled = true
    /// Of the events that match, those that it takes; nil for all.
    package var sample: RouteSample?
    /// When it takes events; nil for always.
    package var window: RouteWindow?
    /// What its destinations get in the place of the event; nil for the event.
    package var shape: EventShape?

    package init(
        name: String, match: Pattern, destinations: [DestinationName], stop: Bool = false,
        ignoring: ScheduleParts = [], including: EventParts = [], media: RouteMedia = .link
    ) {
        self.name = name
        self.match = match
        self.destinations = destinations
        self.stop = stop
        self.ignoring = ignoring
        self.including = including
        self.media = media
    }

    /// Whether it takes every event and gives it on as it is, or none at all.
    fileprivate var asksNothing: Bool {
        !isEnabled
            || match == .everything && sample == nil && window == nil && including.isEmpty && media == .link
                && shape == nil
    }
}
