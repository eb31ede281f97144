package import SignalboxConfig
package import SignalboxJSON
package import SignalboxNotification

/// All routes in order, and the destinations of events that match no route. A value: a reload replaces the whole
/// table. Decisions are pure, so any number of tasks may share one table.
package struct RouteTable: Sendable, Equatable {
    /// In the order in which they are evaluated. Setting them compiles all patterns.
    package var routes: [Route] = [] { didSet { patterns = CompiledPatterns(routes) } }
    /// Destinations of events that no route takes.
    package var fallback: [DestinationName] = []
    /// The ordering key of each destination that receives its events in order.
    package var orderings: [DestinationName: Destination.Ordering] = [:]
    /// Destinations that receive the payload as it arrived.
    package var payloadTakers: Set<DestinationName> = []
    /// The work limit for one event.
    package var workLimit = MatchWork.limit
    private var patterns: CompiledPatterns

    /// Compiles the patterns of the routes into one matcher. The cost grows with all patterns together; pay it once
    /// for each config, not for each event.
    package init(routes: [Route] = [], fallback: [DestinationName] = []) {
        (self.routes, self.fallback) = (routes, fallback)
        patterns = CompiledPatterns(routes)
    }

    /// The shortest time that deliveries wait for stored files; nil if no route makes them wait.
    package var shortestMediaWait: Duration? {
        routes.compactMap { if case .stored(let wait) = $0.media, wait > .zero { wait } else { nil } }.min()
    }

    /// Always equal, because it is derived from the routes, which are compared. Keeps the matcher in step with the
    /// routes: both change together.
    private struct CompiledPatterns: Sendable, Equatable {
        let matcher: RouteMatcher

        init(_ routes: [Route]) { matcher = RouteMatcher(routes.map(\.match)) }

        static func == (left: Self, right: Self) -> Bool { true }
    }

    /// The routes that took one event, and its destinations. ``RouteTable/decide(_:adding:hasPayload:)`` makes it;
    /// the intake turns it into deliveries.
    package struct Decision: Sendable, Equatable {
        /// Names of the routes that took the event, in order.
        package fileprivate(set) var routes: [String] = []
        /// Each destination once, in the order in which routes name it.
        package fileprivate(set) var targets: [Target] = []
        /// Whether a target receives the payload as it arrived.
        package fileprivate(set) var wantsPayload = false
        /// The URLs of the event's files, each once, in the event's order; empty unless a target receives stored
        /// files.
        package fileprivate(set) var media: [String] = []

        /// The destinations of the targets, in the same order.
        package var destinations: [DestinationName] { targets.map(\.destination) }

        /// No routes and no targets.
        package init() {}
    }

    /// A destination of one event, with the options of the first route that leads there.
    package struct Target: Sendable, Equatable {
        /// Receives the event once, even if several routes name it.
        package let destination: DestinationName
        /// Parts of the event's schedule that the route ignores.
        package let ignoring: ScheduleParts
        /// Parts that the event has in addition to the notification.
        package let including: EventParts
        /// How the target receives files: no files, the vendor's links, or stored copies.
        package let media: RouteMedia
        /// Nil if no route leads there.
        package let route: String?
        /// How the route changes the event; nil if it does not.
        package let variant: EventVariant?
        /// Events with equal keys are sent one after the other; nil for no order.
        package let orderKey: String?
    }

    /// Collects the routes that match the event, up to the first with `stop`; if no route matches, the fallback
    /// decides. Throws if that takes more work than one event may take.
    ///
    /// `extra`: destinations that receive the event in addition to those of the routes, and instead of the fallback.
    /// `hasPayload`: false for an event whose payload is not stored; destinations that need it then do not receive
    /// it. `isOperational`: decides as ``decideOperational(_:with:)``, within the limit of work. The cost grows with
    /// the event and with the rules found, hardly with the number of routes. Routes after the first one to a
    /// destination do not change its options.
    package func decide(
        _ event: JSONValue, adding extra: [DestinationName] = [], hasPayload: Bool = true, isOperational: Bool = false
    ) throws(RoutingTooCostly) -> Decision {
        var work = MatchWork(limit: workLimit)
        let matching = try patterns.matcher.matches(of: event, namingType: isOperational, work: &work)
        return decision(
            on: event, matching: matching, adding: extra, fallback: extra.isEmpty && !isOperational ? fallback : [],
            hasPayload: hasPayload)
    }

    /// The decision of an event that no route takes. For events that must be stored although their routing would take
    /// too much work. Destinations that receive the payload as it arrived do not receive it.
    package func fallbackDecision(on event: JSONValue) -> Decision {
        decision(on: event, matching: [], fallback: fallback, hasPayload: false)
    }

    /// The decision of an event about the gateway itself. Such an event goes only to routes whose pattern names a
    /// `type`, in the alternative of its `$or` that matches, and never to the fallback. Resets `parser`, then parses
    /// the event with it.
    /// Never throws: an event that cannot be parsed or matched is a defect of the gateway and stops the process.
    package func decideOperational(_ event: [UInt8], with parser: JSONParser) -> Decision {
        // The gateway makes these events itself: a few hundred bytes without arrays.
        parser.reset()
        var work = MatchWork(limit: .max)
        guard let root = try? parser.parse(event),
            let matching = try? patterns.matcher.matches(of: root, namingType: true, work: &work)
        else { preconditionFailure("The gateway's own event is invalid.") }
        return decision(on: root, matching: matching)
    }

    /// The decision on every event, if it is always the same: all routes take every event unchanged, and no
    /// destination has an order. Nil otherwise. Goes through all routes. The intake computes it once for each config,
    /// so that it need not parse the events again.
    package var uniformDecision: Decision? {
        guard orderings.isEmpty, routes.allSatisfy(\.isUnconditional) else { return nil }
        let parser = JSONParser()
        return (try? parser.parse(Array("{}".utf8))).flatMap { try? decide($0) }
    }

    /// Whether an enabled route includes the payload as a device shows it. The normalizer then makes these payloads
    /// for every event.
    package var includesPayloads: Bool { routes.contains { $0.isEnabled && $0.including.contains(.apns) } }

    /// Whether a route changes events. The intake then reads no payload on an event loop, because a variant may be
    /// large.
    package var hasVariants: Bool { routes.contains { $0.variant != nil } }

    /// The decision, given the positions of all routes whose patterns match. Disabled routes, closed windows and
    /// samples are evaluated here, because the matcher does not know them.
    private func decision(
        on event: JSONValue, matching: [Int], adding extra: [DestinationName] = [], fallback: [DestinationName] = [],
        hasPayload: Bool = true
    ) -> Decision {
        var decision = Decision()
        var named: Set<DestinationName> = []
        func add(_ names: [DestinationName], by route: Route?) {
            for name in names where named.insert(name).inserted {
                let takesPayload = payloadTakers.contains(name)
                guard hasPayload || !takesPayload else { continue }
                if takesPayload { decision.wantsPayload = true }
                if case .stored = route?.media, decision.media.isEmpty { decision.media = RouteMedia.urls(in: event) }
                decision.targets.append(
                    Target(
                        destination: name, ignoring: route?.ignoring ?? [], including: route?.including ?? [],
                        media: route?.media ?? .link, route: route?.name, variant: route?.variant,
                        orderKey: orderings[name].map { $0.key(of: event) }))
            }
        }
        for position in matching where routes[position].admits(event) {
            let route = routes[position]
            decision.routes.append(route.name)
            add(route.destinations, by: route)
            if route.stop { break }
        }
        if decision.routes.isEmpty { add(fallback, by: nil) }
        add(extra, by: nil)
        return decision
    }
}

extension RouteTable {
    /// How a destination receives an event that an operator sends to it: as the routes that take the event order it,
    /// otherwise as the first enabled route to the destination does. Throws if the decision takes too much work.
    package func target(of event: JSONValue, to destination: DestinationName) throws(RoutingTooCostly) -> Target {
        if let target = try decide(event).targets.first(where: { $0.destination == destination }) { return target }
        let route = routes.first { $0.isEnabled && $0.destinations.contains(destination) }
        return Target(
            destination: destination, ignoring: [], including: route?.including ?? [], media: route?.media ?? .link,
            route: route?.name, variant: route?.variant, orderKey: orderings[destination].map { $0.key(of: event) })
    }
}

extension Destination.Ordering {
    /// The string at the pointer, or any other value as JSON; empty if there is none. The default pointer is the
    /// event's `subject`.
    fileprivate func key(of event: JSONValue) -> String {
        guard let value = key.map({ $0.value(in: event) }) ?? event["subject"] else { return "" }
        // SQLite's functions end a text at NUL, so keys must not contain one.
        return (value.string ?? JSONText(value).string).replacing("\0", with: "\u{FFFD}")
    }
}

/// A pattern over events, and the destinations of the events that match.
package struct Route: Sendable, Equatable {
    /// Unique in a config.
    package let name: String
    /// Events that the route may take; see ``isEnabled``, ``sample`` and ``window``.
    package let match: Pattern
    /// Receive the events that the route takes: each event once, as the first route to the destination defines.
    package let destinations: [DestinationName]
    /// Later routes do not take events that this one takes.
    package let stop: Bool
    /// Parts of an event's schedule that its destinations ignore.
    package let ignoring: ScheduleParts
    /// Parts that its destinations receive in addition to the notification.
    package let including: EventParts
    /// How its destinations receive files.
    package let media: RouteMedia
    /// False for a route that is only checked.
    package var isEnabled = true
    /// The share of matching events that it takes; nil for all.
    package var sample: RouteSample?
    /// When it takes events; nil for always.
    package var window: RouteWindow?
    /// How it changes events; nil if it does not.
    package var variant: EventVariant?

    /// Creates a route that is enabled, takes all matching events at any time, and does not change them.
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

    /// Whether it passes every event unchanged, or no event.
    fileprivate var isUnconditional: Bool {
        !isEnabled
            || match == .everything && sample == nil && window == nil && including.isEmpty && media == .link
                && variant == nil
    }
}
