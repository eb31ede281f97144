import Synchronization

/// Counts events by the way they took: source, vendor and the routes that matched. Since the gateway started, in memory
/// only. A class because requests count in it while others read it.
///
/// Bounded: events of ways beyond ``most`` count in one of their own, named ``other``.
package final class FlowCounts: Sendable {
    /// A way, and the number of events that took it.
    package struct Flow: Sendable, Equatable {
        package let source, vendor: String
        /// The routes that matched, in their order; empty if none did.
        package let routes: [String]
        package var count: Int

        /// Ways are equal regardless of their counts.
        func isSame(_ source: String, _ vendor: String, _ routes: [String]) -> Bool {
            self.source == source && self.vendor == vendor && self.routes == routes
        }
    }

    private struct Key: Hashable {
        let source, vendor: String
        let routes: [String]
    }

    private struct State {
        var flows: [Flow] = []
        var indexes: [Key: Int] = [:]
        /// The index of the way that was counted last: neighbours usually take the same.
        var last = 0

        /// The index of a new way, or of the one for ways beyond the limit.
        mutating func begin(_ key: Key) -> Int {
            let isOther = flows.count >= FlowCounts.most
            let key = isOther ? Key(source: FlowCounts.other, vendor: FlowCounts.other, routes: []) : key
            if let index = indexes[key] { return index }
            indexes[key] = flows.count
            flows.append(Flow(source: key.source, vendor: key.vendor, routes: key.routes, count: 0))
            return flows.count - 1
        }
    }

    /// The most ways with a count of their own.
    package static let most = 1_000
    /// In place of the source and the vendor of a further way.
    package static let other = "other"

    private let state = Mutex(State())

    /// No event is counted yet.
    package init() {}

    /// Counts events that are on disk.
    package func count(source: String, vendor: String, routes: [String], times: Int) {
        state.withLock { state in
            if state.last < state.flows.count, state.flows[state.last].isSame(source, vendor, routes) {
                state.flows[state.last].count += times
                return
            }
            let key = Key(source: source, vendor: vendor, routes: routes)
            let index = state.indexes[key] ?? state.begin(key)
            state.flows[index].count += times
            state.last = index
        }
    }

    /// A copy, taken at one moment.
    package var all: [Flow] { state.withLock { $0.flows } }
}
