/// Finds all of any number of intervals that hold a number, in time that depends on how many do and on the logarithm of
/// how many there are.
struct IntervalIndex<Key: FixedWidthInteger & BitwiseCopyable>: BitwiseCopyable {
    struct Interval: BitwiseCopyable {
        let first: Key
        let last: Key
        let candidate: UInt32
    }

    /// By their beginnings.
    private let intervals: UnsafeBufferPointer<Interval>
    /// Where they begin, by itself: a search looks at nothing else, and so at less memory.
    private let firsts: UnsafeBufferPointer<Key>
    /// The furthest end of the half of intervals around each middle; see ``forEach(holding:from:to:_:)``.
    private let ends: UnsafeBufferPointer<Key>
    /// No number lies in two of them.
    private let areApart: Bool

    /// Nil for no intervals.
    init?(_ intervals: [Interval], in arena: Arena) {
        guard !intervals.isEmpty else { return nil }
        let sorted = intervals.sorted { ($0.first, $0.last) < ($1.first, $1.last) }
        areApart = zip(sorted, sorted.dropFirst()).allSatisfy { $0.last < $1.first }
        var ends = sorted.map(\.last)
        Self.spread(&ends, sorted, from: 0, to: sorted.count)
        self.intervals = arena.keep(sorted)
        firsts = arena.keep(sorted.map(\.first))
        self.ends = arena.keep(ends)
    }

    private static func spread(_ ends: inout [Key], _ intervals: [Interval], from start: Int, to end: Int) {
        guard start < end else { return }
        let middle = (start + end) / 2
        spread(&ends, intervals, from: start, to: middle)
        spread(&ends, intervals, from: middle + 1, to: end)
        if start < middle { ends[middle] = max(ends[middle], ends[(start + middle) / 2]) }
        if middle + 1 < end { ends[middle] = max(ends[middle], ends[(middle + 1 + end) / 2]) }
    }

    func forEach(holding key: Key, _ body: (UInt32) -> Void) {
        guard areApart else { return forEach(holding: key, from: 0, to: intervals.count, body) }
        var (low, count) = (0, intervals.count)
        while count > 1 {
            let half = count / 2
            low = firsts[low + half] <= key ? low + half : low
            count -= half
        }
        if firsts[low] <= key, key <= intervals[low].last { body(intervals[low].candidate) }
    }

    private func forEach(holding key: Key, from start: Int, to end: Int, _ body: (UInt32) -> Void) {
        var start = start
        while start < end {
            let middle = (start + end) / 2
            guard ends[middle] >= key else { return }
            if start < middle, ends[(start + middle) / 2] >= key {
                forEach(holding: key, from: start, to: middle, body)
            }
            guard intervals[middle].first <= key else { return }
            if intervals[middle].last >= key { body(intervals[middle].candidate) }
            start = middle + 1
        }
    }
}
