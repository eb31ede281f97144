import SignalboxJSON
import SignalboxModel
import SignalboxStore

/// Counts payloads by vendor and route.
struct ReplayTally {
    private struct Cell: Hashable {
        let vendor: String
        let route: String
    }

    private var cells: [Cell: Int] = [:]
    private var events = 0

    mutating func add(_ routed: RoutedEvent) {
        events += 1
        for route in routed.routes.isEmpty ? ["(none)"] : routed.routes {
            cells[Cell(vendor: routed.event.vendor.name, route: route), default: 0] += 1
        }
    }

    /// The table for a person, or one line of JSON.
    func table(rejected: Int, json: Bool) -> String {
        let rows = cells.sorted { ($0.key.vendor, $0.key.route) < ($1.key.vendor, $1.key.route) }
        if json { return line(rows.map { ($0.key.vendor, $0.key.route, $0.value) }, rejected: rejected) }
        let vendorWidth = (rows.map(\.key.vendor.count) + [6]).max() ?? 6
        let routeWidth = (rows.map(\.key.route.count) + [5]).max() ?? 5
        func row(_ vendor: String, _ route: String, _ count: String) -> String {
            vendor.padding(to: vendorWidth) + "  " + route.padding(to: routeWidth) + "  " + count + "\n"
        }
        return row("VENDOR", "ROUTE", "EVENTS")
            + rows.map { row($0.key.vendor, $0.key.route, String($0.value)) }.joined()
            + "\(events) events, \(rejected) rejected\n"
    }

    private func line(_ rows: [(String, String, Int)], rejected: Int) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.key("events")
        json.integer(events)
        json.key("rejected")
        json.integer(rejected)
        json.key("routes")
        json.beginArray()
        for (vendor, route, count) in rows {
            json.beginObject()
            json.key("vendor")
            json.string(vendor)
            json.key("route")
            json.string(route)
            json.key("events")
            json.integer(count)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        json.newline()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

/// What became of deliveries between two looks at the queue.
struct DeliveryOutcomes {
    let delivered: Int
    let dead: Int
    let expired: Int
    /// To be tried again later.
    let waiting: Int
    /// Of those, the ones whose time has not come.
    let scheduled: Int

    /// `scheduled`: deliveries that wait for their time, before and after.
    init(
        before: [DestinationName: [DeliveryRecord.State: Int]], after: [DestinationName: [DeliveryRecord.State: Int]],
        scheduled: (before: Int, after: Int)
    ) {
        func total(_ counts: [DestinationName: [DeliveryRecord.State: Int]], _ state: DeliveryRecord.State) -> Int {
            counts.values.reduce(0) { $0 + ($1[state] ?? 0) }
        }
        delivered = total(after, .delivered) - total(before, .delivered)
        dead = total(after, .dead) - total(before, .dead)
        expired = total(after, .expired) - total(before, .expired)
        waiting = max(0, total(after, .waiting) - total(before, .waiting))
        self.scheduled = min(waiting, max(0, scheduled.after - scheduled.before))
    }

    /// What waits for its time is as it should be.
    var failed: Int { dead + waiting - scheduled }

    func text(json: Bool) -> String {
        guard !json else {
            return #"{"delivered":\#(delivered),"dead":\#(dead),"expired":\#(expired),"waiting":\#(waiting),"#
                + #""scheduled":\#(scheduled)}"# + "\n"
        }
        var text = "\(delivered) delivered, \(dead) dead, \(waiting) waiting for their next attempt"
        if scheduled > 0 { text += " (\(scheduled) of them for their time)" }
        if expired > 0 { text += ", \(expired) expired" }
        return text + "\n"
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
