import SignalboxJSON
import SignalboxNotification

/// Counts events by vendor and route, and by warning code. Bounded: names beyond the first 10,000 are counted
/// together. Stored in the resume file, so the tables of a resumed run include the earlier processes.
package struct ReplayTally: Sendable, Equatable, Codable {
    /// A cell of the table, with names as the tables show them.
    package struct Cell: Sendable, Hashable, Codable {
        /// The name of the vendor, or `(others)`.
        package let vendor: String
        /// The name of the route, `(none)` or `(others)`.
        package let route: String
    }

    /// A row of the table by vendor and route.
    package struct Row: Sendable, Equatable {
        /// The name of the vendor, or `(others)`.
        package let vendor: String
        /// The name of the route, `(none)` or `(others)`.
        package let route: String
        /// An event counts in one row for each route that matched.
        package let events: Int
    }

    /// Events in all, repeats included.
    package private(set) var events = 0
    /// Events that the queue or the gateway had already.
    package private(set) var repeats = 0
    private var cells: [Cell: Int] = [:]
    private var warnings: [String: Int] = [:]
    /// Vendors and routes can be many; the tables must stay readable and the resume file small.
    private static let mostNames = 10_000

    /// All counts are zero.
    package init() {}

    /// Counts an event. `routes`: names of the routes that matched. An event without routes counts under `(none)`.
    package mutating func add(vendor: String, routes: [String], warnings codes: [String], isRepeat: Bool = false) {
        events += 1
        if isRepeat { repeats += 1 }
        for route in routes.isEmpty ? ["(none)"] : routes { count(Cell(vendor: vendor, route: route)) }
        for code in codes { count(warning: code) }
    }

    /// Adds the counts of another tally. Names beyond the bound are counted as `(others)`, even if they have a row in
    /// `other`.
    package mutating func add(_ other: ReplayTally) {
        events += other.events
        repeats += other.repeats
        for (cell, count) in other.cells { self.count(cell, count) }
        for (code, count) in other.warnings { self.count(warning: code, count) }
    }

    private mutating func count(_ cell: Cell, _ more: Int = 1) {
        guard let index = cells.index(forKey: cell) else {
            let hasRoom = cells.count < Self.mostNames
            cells[hasRoom ? cell : Cell(vendor: "(others)", route: "(others)"), default: 0] += more
            return
        }
        cells.values[index] += more
    }

    private mutating func count(warning code: String, _ more: Int = 1) {
        let isKnown = warnings[code] != nil || warnings.count < Self.mostNames
        warnings[isKnown ? code : "(others)", default: 0] += more
    }

    /// By vendor, then by route.
    package var rows: [Row] {
        cells.map { Row(vendor: $0.key.vendor, route: $0.key.route, events: $0.value) }
            .sorted { ($0.vendor, $0.route) < ($1.vendor, $1.route) }
    }

    /// The most frequent first.
    package var warningRows: [(code: String, events: Int)] {
        warnings.map { ($0.key, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    // MARK: Output

    /// The tables as text. `rejected`: number of rejected payloads. Has a table of the warnings only if there are
    /// some. The sum of the rows may exceed the number of events, because an event counts for each of its routes.
    package func table(rejected: Int) -> String {
        let events = TextTable.lines(
            [["VENDOR", "ROUTE", "EVENTS"]] + rows.map { [$0.vendor, $0.route, String($0.events)] })
        let warnings =
            warningRows.isEmpty
            ? "" : TextTable.lines([["WARNING", "COUNT"]] + warningRows.map { [$0.code, String($0.events)] })
        let repeated = repeats > 0 ? ", \(repeats) already accepted" : ""
        return events + warnings + "\(Counted.words(self.events, "event")), \(rejected) rejected\(repeated)\n"
    }

    /// The tables as one line of JSON. Ends with a line end. The members are `events`, `rejected`, `repeats`,
    /// `routes` and `warnings`.
    package func json(rejected: Int) -> [UInt8] {
        .jsonLine { json in
            json.member("events", events)
            json.member("rejected", rejected)
            json.member("repeats", repeats)
            json.objects("routes", of: rows) { json, row in
                json.member("vendor", row.vendor)
                json.member("route", row.route)
                json.member("events", row.events)
            }
            json.objects("warnings", of: warningRows) { json, row in
                json.member("code", row.code)
                json.member("count", row.events)
            }
        }
    }
}
