package import Foundation
package import SignalboxJSON
package import SignalboxNotification

/// Events about the gateway itself, as CloudEvents. Routes match them by `type` only, and their vendor is unknown.
package struct OperationalEvent: Sendable {
    private let gateway: String

    /// `gateway`: the name in every event's `source`. The events have the default source.
    package init(gateway: String) { self.gateway = gateway }

    /// The CloudEvents `type` of these events. The names are part of the public contract, because routes and
    /// receivers match them.
    package enum EventType: String, Sendable {
        case ping = "io.signalbox.ping"
        case deliveryDead = "io.signalbox.delivery.dead"
    }

    /// Whether an event is about the gateway itself. Only routes whose pattern names its `type` receive it.
    static func isOperational(_ event: JSONValue) -> Bool {
        event["type"]?.string.flatMap { EventType(rawValue: $0) } != nil
    }

    /// Writes one event with a new id; `data` writes the members of its data. `subject` has the form
    /// `destination/<name>`. The event has no platform payload. It is not stored or routed here.
    package func event(_ type: EventType, subject: String, at now: Date, data: (inout JSONWriter) -> Void) -> Event {
        let id = EventID(at: now, random: (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)))
        var json = JSONWriter()
        json.cloudEvent(type.rawValue, id: id, source: "/signalbox/\(gateway)", subject: subject, at: now, data: data)
        return Event(
            id: id, source: .default, acceptedAt: now, vendor: .unknown, kind: .control, warnings: [],
            subject: subject, body: json.bytes)
    }
}
