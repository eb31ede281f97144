package import SignalboxNotification
import Synchronization

/// Counts events by their path: source, vendor and the routes that matched. Since the gateway started, in memory only.
/// A class because requests count in it while others read it.
///
/// Bounded: the events of paths beyond ``most`` count in one path, named ``other``.
package final class FlowCounts: Sendable {
    /// A path, and the number of its events.
    package struct Flow: Sendable, Equatable {
        package let source, vendor: String
        /// The routes that matched, in their order; empty if none did.
        package let routes: [String]
        package var count: Int
    }

    private struct Key: Hashable {
        let source: SourceName
        let vendor: VendorID
        let routes: [String]
    }

    private struct State {
        var flows: [Flow] = []
        var indexes: [Key: Int] = [:]

        /// The index of a new way, or of the one for ways beyond the limit.
        mutating func begin(_ key: Key) -> Int {
            let isOther = flows.count >= FlowCounts.most
            let key =
                isOther
                ? Key(source: SourceName(FlowCounts.other), vendor: VendorID(FlowCounts.other), routes: []) : key
            if let index = indexes[key] { return index }
            indexes[key] = flows.count
            flows.append(Flow(source: key.source.name, vendor: key.vendor.name, routes: key.routes, count: 0))
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

    /// Counts events that are on disk. `routes`: names of those that matched.
    package func count(from source: SourceName, of vendor: VendorID, routes: [String], times: Int) {
        let key = Key(source: source, vendor: vendor, routes: routes)
        state.withLock { state in
            let index = state.indexes[key] ?? state.begin(key)
            state.flows[index].count += times
        }
    }

    /// A copy, taken at one moment.
    package var all: [Flow] { state.withLock { $0.flows } }
}
