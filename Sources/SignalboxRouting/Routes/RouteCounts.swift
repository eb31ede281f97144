import Synchronization

/// Counts events by route since the gateway started. A class because requests count in it while others read it. The
/// counts live in memory only; a restart begins at zero.
package final class RouteCounts: Sendable {
    /// Events of one route.
    package struct Count: Sendable, Equatable {
        /// Events that the route matched.
        package var matched = 0
        /// Events whose transformation failed.
        package var failed = 0

        /// Zero events, unless the caller states others.
        package init(matched: Int = 0, failed: Int = 0) { (self.matched, self.failed) = (matched, failed) }
    }

    private let counts = Mutex<[String: Count]>([:])
    /// The same events by source, vendor and routes.
    package let flows = FlowCounts()

    /// No route has a count yet.
    package init() {}

    /// Counts events that are on disk. `routes`: names of those that matched each of them. Takes one lock for all
    /// routes of the call. `times`: the number of events.
    package func countMatch(of routes: [String], times: Int = 1) {
        guard !routes.isEmpty else { return }
        counts.withLock { counts in
            for route in routes { counts[route, default: Count()].matched += times }
        }
    }

    /// Counts an event whose transformation failed.
    func countFailure(of route: String) { counts.withLock { $0[route, default: Count()].failed += 1 } }

    /// The counts by name of the route; routes without events are missing. A copy, taken at one moment.
    package var all: [String: Count] { counts.withLock { $0 } }
}
