import SignalboxJSON

extension ReplayTally {
    /// The tables for a person. `rejected`: how many payloads were.
    package func table(rejected: Int) -> String {
        let rows = rows
        let vendorWidth = (rows.map(\.vendor.count) + [6]).max() ?? 6
        let routeWidth = (rows.map(\.route.count) + [5]).max() ?? 5
        func row(_ vendor: String, _ route: String, _ count: String) -> String {
            vendor.padding(to: vendorWidth) + "  " + route.padding(to: routeWidth) + "  " + count + "\n"
        }
        var text = row("VENDOR", "ROUTE", "EVENTS")
        for line in rows { text += row(line.vendor, line.route, String(line.events)) }
        let warnings = warningRows
        if !warnings.isEmpty {
            let width = (warnings.map(\.code.count) + [7]).max() ?? 7
            text += "WARNING".padding(to: width) + "  COUNT\n"
            for (code, events) in warnings { text += code.padding(to: width) + "  \(events)\n" }
        }
        text += "\(events) events, \(rejected) rejected"
        if repeats > 0 { text += ", \(repeats) were there already" }
        return text + "\n"
    }

    /// The same as one line of JSON.
    package func json(rejected: Int) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("events")
        json.integer(events)
        json.key("rejected")
        json.integer(rejected)
        json.key("repeats")
        json.integer(repeats)
        json.key("routes")
        json.beginArray()
        for row in rows {
            json.beginObject()
            json.key("vendor")
            json.string(row.vendor)
            json.key("route")
            json.string(row.route)
            json.key("events")
            json.integer(row.events)
            json.endObject()
        }
        json.endArray()
        json.key("warnings")
        json.beginArray()
        for (code, count) in warningRows {
            json.beginObject()
            json.key("code")
            json.string(code)
            json.key("count")
            json.integer(count)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        json.newline()
        return json.bytes
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
