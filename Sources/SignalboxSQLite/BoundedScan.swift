import GRDB
import SignalboxStore

/// The result of a walk through a table, the newest rows first, that ends after a number of rows or a time. A filter
/// that matches nothing would otherwise read the whole table.
struct BoundedScan {
    /// Numbers of matching rows, the largest first.
    private(set) var ids: [Int64] = []
    /// The last examined number; nil at the end of the table.
    private(set) var next: Int64?
    /// False if rows or time ran out before enough rows matched.
    private(set) var isComplete = true

    /// Rows between two looks at the clock.
    private static let rowsPerLook = 512

    /// Runs a statement whose rows have two columns: a number, in descending order, and whether the row matches. Ends
    /// with `limit` matches if a further one follows, after `rows` rows, or after ``StoreLimits/longestScan``.
    /// `matches`: a further condition on a row that matches, which may take long.
    init(
        _ sql: String, _ arguments: StatementArguments, limit: Int, examining rows: Int, in db: Database,
        where matches: ((StoredRow) throws -> Bool)? = nil
    ) throws {
        let cursor = try StoredRow.fetchCursor(db, sql: sql, arguments: arguments)
        let start = ContinuousClock.now
        var (examined, last) = (0, Int64?.none)
        while let row = try cursor.next() {
            let isFound = try row.optionalNumber(1).map { $0 != 0 } ?? false
            let isMatch = try isFound && matches?(row) ?? true
            if isMatch, ids.count == limit {
                next = last
                return
            }
            let isLook = matches != nil || examined % Self.rowsPerLook == 0
            let isLate = isLook && ContinuousClock.now - start > StoreLimits.longestScan
            if examined == rows || examined > 0 && isLate {
                (next, isComplete) = (last, ids.count == limit)
                return
            }
            let id = try row.number(0)
            if isMatch { ids.append(id) }
            (examined, last) = (examined + 1, id)
        }
    }

    /// Deliveries that a filter selects. Conditions that no index serves are evaluated as a column, so that each row
    /// that they reject counts as examined.
    init(_ filter: DeliveryFilter, limit: Int, examining rows: Int, in db: Database) throws {
        // The conditions that an index serves; SQLite then visits matching rows only.
        var walk = DeliveryFilter()
        (walk.ids, walk.state, walk.event, walk.before) = (filter.ids, filter.state, filter.event, filter.before)
        walk.through = filter.through
        // Only dead deliveries have an index in this order.
        if walk.state != .dead { walk.state = nil }
        let (found, matches) = (walk.sql, filter.sql)
        try self.init(
            """
            SELECT d.id, (\(matches.condition)) FROM deliveries d WHERE \(found.condition) AND d.id > ?
            ORDER BY d.id DESC
            """, matches.arguments + found.arguments + [try db.lastDelivery(since: filter.acceptedSince)],
            limit: limit, examining: rows, in: db)
    }
}
