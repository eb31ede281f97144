import SignalboxStore

/// A walk through a table, the newest rows first, that ends after a number of rows or a time: a filter that matches
/// nothing would otherwise read the whole table. Pure: its user reads the rows in parts and offers them in their order.
struct BoundedScan {
    /// The most rows of the first part, which answers most pages. Later parts are larger.
    private static let firstPart = 256
    /// The most rows of a part: they are read within some ten milliseconds.
    private static let largestPart = 8192

    /// Numbers of matching rows, the largest first.
    private(set) var ids: [Int64] = []
    /// After the walk, the last examined number if other rows follow it; nil at the end of the table.
    private(set) var next: Int64?
    /// False if rows or time ran out before enough rows matched.
    private(set) var isComplete = true
    /// The last examined number; nil before the first.
    private(set) var last: Int64?
    private var isOver = false
    /// Rows so far, matching or not.
    private var examined = 0
    /// The size of the next part; four times as large after each one, up to ``largestPart``.
    private var part: Int
    private let limit: Int
    private let rows: Int
    /// Checked after each part, so a part may exceed it.
    private let end: ContinuousClock.Instant

    /// Ends with `limit` matches if a further one follows, after `rows` rows, or after ``StoreLimits/longestScan``.
    init(limit: Int, examining rows: Int, from start: ContinuousClock.Instant = .now) {
        (self.limit, self.rows) = (limit, rows)
        part = max(1, min(Self.firstPart, rows))
        end = start + StoreLimits.longestScan
    }

    /// The number of rows to read next; nil when the walk has ended. One more than may be examined, so that the last
    /// row of the table is known as such.
    var wanted: Int? { isOver ? nil : min(part, rows - examined) + 1 }

    /// Takes the rows of one part, the largest number first, which follow those of the former parts. `found`: at most
    /// ``wanted`` rows.
    mutating func add(_ found: [(id: Int64, isMatch: Bool)], of wanted: Int) {
        let isEnd = found.count < wanted
        add(isEnd ? found[...] : found.dropLast(), isEnd: isEnd)
    }

    /// Takes rows. `isEnd`: whether no other row follows.
    mutating func add(_ rows: ArraySlice<(id: Int64, isMatch: Bool)>, isEnd: Bool) {
        for row in rows {
            guard take(row.id, row.isMatch) else { return }
        }
        if isEnd {
            isOver = true
        } else if examined >= self.rows || ContinuousClock.now >= end {
            stop()
        }
        part = min(part * 4, Self.largestPart)
    }

    /// Takes a row; false when it ends the walk.
    private mutating func take(_ id: Int64, _ isMatch: Bool) -> Bool {
        if isMatch, ids.count == limit {
            (next, isOver) = (last, true)
            return false
        }
        if isMatch { ids.append(id) }
        (examined, last) = (examined + 1, id)
        return true
    }

    /// Ends the walk after the last examined row, although others follow.
    private mutating func stop() { (next, isComplete, isOver) = (last, ids.count == limit, true) }
}
