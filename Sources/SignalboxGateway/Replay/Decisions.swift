import SignalboxJSON
package import SignalboxNotification
import SignalboxRouting

/// Where the events of a block would go: a line for each, and the counts.
package struct Decisions: Sendable {
    package private(set) var lines: [UInt8] = []
    package private(set) var tally = ReplayTally()
    package private(set) var rejections: [Rejection] = []

    mutating func add(_ rejection: Rejection) { rejections.append(rejection) }

    mutating func add(_ decision: RouteTable.Decision, of event: PushNotification, asJSON: Bool) {
        tally.add(
            vendor: event.vendor.name, routes: decision.routes,
            warnings: event.warnings.isEmpty ? [] : event.warnings.map(\.code))
        if asJSON {
            lines += Self.json(decision, of: event)
        } else {
            write(decision, of: event)
        }
    }

    /// A line for a person, such as `braze/alert -> crm (alerts)`.
    private mutating func write(_ decision: RouteTable.Decision, of event: PushNotification) {
        lines += event.vendor.name.utf8
        lines.append(UInt8(ascii: "/"))
        lines += event.kind.rawValue.utf8
        lines += " -> ".utf8
        if decision.targets.isEmpty { lines += "nowhere".utf8 }
        write(decision.targets.lazy.map(\.destination.name))
        if !decision.routes.isEmpty {
            lines += " (".utf8
            write(decision.routes)
            lines.append(UInt8(ascii: ")"))
        }
        lines.append(UInt8(ascii: "\n"))
    }

    private mutating func write(_ names: some Sequence<String>) {
        var isFirst = true
        for name in names {
            if !isFirst { lines += ", ".utf8 }
            isFirst = false
            lines += name.utf8
        }
    }

    private static func json(_ decision: RouteTable.Decision, of event: PushNotification) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("vendor")
        json.string(event.vendor.name)
        json.key("kind")
        json.string(event.kind.rawValue)
        json.key("routes")
        json.strings(decision.routes)
        json.key("destinations")
        json.strings(decision.destinations.map(\.name))
        json.endObject()
        json.newline()
        return json.bytes
    }
}
