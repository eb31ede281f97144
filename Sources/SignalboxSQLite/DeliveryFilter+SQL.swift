import GRDB
import SignalboxNotification
import SignalboxStore

/// Filters as SQL. Only this target knows the columns.
extension DeliveryFilter {
    /// A condition over `deliveries d`. Values are arguments of the statement; only the number of ids is part of the
    /// SQL. Without conditions it selects every delivery. An empty list of ids selects none.
    var sql: (condition: String, arguments: StatementArguments) {
        var conditions: [String] = ["1"]
        // A literal, because SQLite uses a partial index for a constant only.
        if let state { conditions.append("d.state = '\(state.rawValue)'") }
        var arguments = StatementArguments()
        func add(_ condition: String, _ values: StatementArguments?) {
            guard let values else { return }
            conditions.append(condition)
            arguments += values
        }
        let places = repeatElement("?", count: ids?.count ?? 0).joined(separator: ", ")
        add("d.id IN (\(places))", ids.map { StatementArguments($0) })
        add("d.destination = ?", destination.map { [$0.name] })
        add("d.id < ?", before.map { [$0] })
        add("d.id <= ?", through.map { [$0] })
        add("d.event = (SELECT seq FROM events WHERE id = ?)", event.map { [$0] })
        add("d.status BETWEEN ? AND ?", status.map { [$0.lowerBound, $0.upperBound] })
        add("d.error = ?", error.map { [$0] })
        // A delivery that has ended has the time of its end in `due`.
        add("(d.state = 'waiting' OR d.due < ?)", endedBefore.map { [$0.milliseconds] })
        // For each delivery a lookup by key: `accepted_at` has no index, and a set of events would be built by reading
        // all of them, in each step of a removal.
        add("(SELECT accepted_at FROM events WHERE seq = d.event) >= ?", acceptedSince.map { [$0.milliseconds] })
        add("(SELECT accepted_at FROM events WHERE seq = d.event) < ?", acceptedBefore.map { [$0.milliseconds] })
        add(
            "(SELECT substr(subject, 1, length(?)) = ? FROM events WHERE seq = d.event)",
            vendor.map { ["\($0)/", "\($0)/"] })
        return (conditions.joined(separator: " AND "), arguments)
    }
}
