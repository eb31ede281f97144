/// Counts events by vendor and route and by code of warning. Bounded: beyond a number of different names, the rest is
/// counted together.
package struct ReplayTally: Sendable, Equatable, Codable {
    package struct Cell: Sendable, Hashable, Codable {
        package let vendor: String
        package let route: String
    }

    /// A line of the table by vendor and route.
    package struct Row: Sendable, Equatable, Codable {
        package let vendor: String
        package let route: String
        package let events: Int
    }

    package private(set) var events = 0
    /// Of them, those that the queue or the gateway had already.
    package private(set) var repeats = 0
    private var cells: [Cell: Int] = [:]
    private var warnings: [String: Int] = [:]
    private static let mostNames = 10_000

    package init() {}

    /// Counts an event. `routes`: the names of those that took it.
    package mutating func add(vendor: String, routes: [String], warnings codes: [String], isRepeat: Bool = false) {
        events += 1
        if isRepeat { repeats += 1 }
        if routes.isEmpty { count(Cell(vendor: vendor, route: "(none)")) }
        for route in routes { count(Cell(vendor: vendor, route: route)) }
        for code in codes { count(warning: code) }
    }

    /// Counts what another tally has counted.
    package mutating func add(_ other: ReplayTally) {
        events += other.events
        repeats += other.repeats
        for (cell, count) in other.cells { self.count(cell, count) }
        for (code, count) in other.warnings { self.count(warning: code, count) }
    }

    private mutating func count(_ cell: Cell, _ more: Int = 1) {
        guard let place = cells.index(forKey: cell) else {
            let isRoom = cells.count < Self.mostNames
            cells[isRoom ? cell : Cell(vendor: "(others)", route: "(others)"), default: 0] += more
            return
        }
        cells.values[place] += more
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
}
