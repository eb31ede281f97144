import Synchronization

/// Counters or histograms by the values of their labels, at most a fixed number of them. Series live as long as the
/// process, so the values of a label must come from a closed set; keys beyond the limit share a few series.
package final class SeriesTable<Key: Hashable & Sendable, Series: AnyObject & Sendable>: Sendable {
    // A class because all requests share it.
    private struct State {
        var series: [Key: Series] = [:]
        /// Neighbours usually have the same key.
        var last: (key: Key, series: Series)?
    }

    private let state = Mutex(State())
    private let limit: Int
    private let other: @Sendable (Key) -> Key
    private let make: @Sendable () -> Series

    /// `other`: the key of a series for all keys beyond the limit; it must have few values. `make`: a series without
    /// counts.
    package init(limit: Int, other: @escaping @Sendable (Key) -> Key, make: @escaping @Sendable () -> Series) {
        (self.limit, self.other, self.make) = (limit, other, make)
    }

    /// The series of a key, which begins now if there is none. The same object for equal keys, so a caller may keep it.
    package func series(for key: Key) -> Series {
        state.withLock { state in
            if let last = state.last, last.key == key { return last.series }
            let series = state.series[key] ?? begin(key, &state)
            state.last = (key, series)
            return series
        }
    }

    private func begin(_ key: Key, _ state: inout State) -> Series {
        let key = state.series.count < limit ? key : other(key)
        if let series = state.series[key] { return series }
        let series = make()
        state.series[key] = series
        return series
    }

    /// Begins the series of these keys, so that they are shown with 0. Leaves a quarter of the limit to keys that
    /// occur.
    package func expect(_ keys: some Sequence<Key>) {
        state.withLock { state in
            for key in keys where state.series[key] == nil && state.series.count < limit - limit / 4 {
                state.series[key] = make()
            }
        }
    }

    /// All series, in no order.
    package var all: [(key: Key, series: Series)] { state.withLock { $0.series.map { ($0.key, $0.value) } } }
}
