import GRDB
import SignalboxNotification
import SignalboxStore

/// Filters as SQL. Only this target knows the columns.
extension DeliveryFilter {
    /// A condition over `deliveries d`. Values are arguments of the statement; only the number of ids is part of the
    /// SQL. Without conditions it selects every delivery. An empty list of ids selects none.
    var sql: (condition: String, arguments: StatementArguments) {
        var conditions = SQLConditions()
        // A literal, because SQLite uses a partial index for a constant only.
        if let state { conditions.add("d.state = '\(state.rawValue)'") }
        let places = repeatElement("?", count: ids?.count ?? 0).joined(separator: ", ")
        conditions.add("d.id IN (\(places))", values: ids.map { StatementArguments($0) })
        conditions.add("d.destination = ?", destination?.name)
        conditions.add("d.id < ?", before)
        conditions.add("d.id <= ?", through)
        conditions.add("d.event = (SELECT seq FROM events WHERE id = ?)", event)
        conditions.add("d.status BETWEEN ? AND ?", values: status.map { [$0.lowerBound, $0.upperBound] })
        conditions.add("d.error = ?", error)
        // A delivery that has ended has the time of its end in `due`.
        conditions.add("(d.state = 'waiting' OR d.due < ?)", endedBefore?.milliseconds)
        // For each delivery a lookup by key: `accepted_at` has no index, and a set of events would be built by reading
        // all of them, in each step of a removal.
        conditions.add("(SELECT accepted_at FROM events WHERE seq = d.event) >= ?", acceptedSince?.milliseconds)
        conditions.add("(SELECT accepted_at FROM events WHERE seq = d.event) < ?", acceptedBefore?.milliseconds)
        conditions.add(
            "(SELECT substr(subject, 1, length(?)) = ? FROM events WHERE seq = d.event)",
            values: vendor.map { ["\($0)/", "\($0)/"] })
        return conditions.sql
    }
}
