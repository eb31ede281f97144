import Foundation
import SignalboxJSON
import SignalboxNotification

/// Events about the answers of push services to forwarded pushes, as the schema `urn:signalbox:schema:push:1` defines
/// them. The order of the members is part of the event's bytes and does not change.
enum AnsweredEvent {
    /// Part of the API: routes match it.
    static let type = "io.signalbox.push.answered"

    /// The event of one answer. `gateway`: the name in `source`. `time`: when the answer arrived.
    static func event(
        _ verdict: PushVerdict, to push: ForwardedPush, id: EventID, gateway: String, at time: Date
    ) -> Event {
        let subject = "\(push.provider.rawValue)/\(verdict.outcome.rawValue)"
        var json = JSONWriter(reservingCapacity: 1000)
        json.cloudEvent(
            type, id: id, source: "/signalbox/\(gateway)/\(push.source)", subject: subject, at: time, schema: "push:1"
        ) { json in
            json.object("notification") { $0.member("id", push.event) }
            json.member("platform", push.provider.rawValue)
            json.member("host", verdict.host)
            json.member("outcome", verdict.outcome.rawValue)
            json.member("status", verdict.status)
            json.member("reason", verdict.reason)
            json.member("timestamp", verdict.timestamp.map { Timestamp($0).text })
            // No member for a push without any of its members.
            json.target(push.target == PushNotification.Target() ? nil : push.target)
            json.member("apnsId", verdict.header("apns-id"))
            json.member("apnsUniqueId", verdict.header("apns-unique-id"))
            json.member("message", verdict.message)
            json.member("durationMs", Int(verdict.duration / .milliseconds(1)))
        }
        return Event(
            id: id, source: push.source, acceptedAt: time, vendor: .unknown, kind: .control, warnings: [],
            subject: subject, body: json.bytes)
    }
}
