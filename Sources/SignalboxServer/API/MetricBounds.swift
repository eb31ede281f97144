import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

extension MetricValues {
    /// How many names of a config have series of their own. With the limits of ``GatewayCounters`` and
    /// ``ServerCounters``, all pages have fewer than ten thousand series.
    enum Bounds {
        /// Destinations in trouble have precedence, so that alerts see them.
        static let destinations = 200
        /// The first ones of the config have series of their own; the others are summed up.
        static let routes = 250
        /// Failure rules in the order of evaluation; further ones have no series and no sum.
        static let rules = 100
    }

    /// The destinations to show, in the order of names: those of the config, and those that the queue counts. If there
    /// are more than ``Bounds/destinations``, those that need attention have precedence, then those of the config. The
    /// queue never forgets a destination, so those that left the config may be many.
    static func shown(
        _ configured: Set<DestinationName>, _ gauges: [DestinationName: DestinationGauges],
        _ statuses: [DestinationName: DestinationStatus]
    ) -> [DestinationName] {
        let names = configured.union(gauges.keys).sorted()
        guard names.count > Bounds.destinations else { return names }
        var (troubled, well, left): ([DestinationName], [DestinationName], [DestinationName]) = ([], [], [])
        for name in names {
            let isLeft = !configured.contains(name)
            if statuses[name] != nil || isLeft && (gauges[name]?.waiting ?? 0) > 0 {
                troubled.append(name)
            } else if isLeft {
                left.append(name)
            } else {
                well.append(name)
            }
        }
        return (troubled + well + left).prefix(Bounds.destinations).sorted()
    }

    /// The counts of the shown destinations, and the sums of the others as `other`.
    static func bounded(
        _ gauges: [DestinationName: DestinationGauges], to shown: [DestinationName]
    ) -> [DestinationName: DestinationGauges] {
        let known = Set(shown)
        return gauges.reduce(into: [:]) { bounded, entry in
            let name = known.contains(entry.key) ? entry.key : .other
            bounded[name, default: DestinationGauges()].add(entry.value)
        }
    }

    /// The shown destinations, and `other` if there are more. A destination may have this name. Its series then
    /// includes the others, because a page has each series once.
    static func counted(
        _ shown: [DestinationName], _ gauges: [DestinationName: DestinationGauges]
    ) -> [DestinationName] {
        gauges[.other] == nil || shown.contains(.other) ? shown : shown + [.other]
    }

    /// The first routes, and the sums of the others as `other`. A route may have this name. Its series then includes
    /// the others.
    static func bounded(
        _ routes: [(name: String, count: RouteCounts.Count)]
    ) -> [(name: String, count: RouteCounts.Count)] {
        guard routes.count > Bounds.routes else { return routes }
        var others = RouteCounts.Count()
        for route in routes.dropFirst(Bounds.routes) {
            others.matched += route.count.matched
            others.failed += route.count.failed
        }
        var bounded = Array(routes.prefix(Bounds.routes))
        if let same = bounded.firstIndex(where: { $0.name == GatewayCounters.other }) {
            bounded[same].count.matched += others.matched
            bounded[same].count.failed += others.failed
        } else {
            bounded.append((GatewayCounters.other, others))
        }
        return bounded
    }
}

extension DestinationName {
    /// Destinations beyond the bound.
    static let other = DestinationName(GatewayCounters.other)
}

extension DestinationGauges {
    /// Adds the counts, and keeps the earlier of both due times.
    fileprivate mutating func add(_ more: DestinationGauges) {
        accepted += more.accepted
        waiting += more.waiting
        dead += more.dead
        oldestDue = [oldestDue, more.oldestDue].compactMap { $0 }.min()
    }
}
