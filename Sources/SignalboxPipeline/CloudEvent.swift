import SignalboxJSON
import SignalboxModel

/// The CloudEvents 1.0 envelope around a notification, in structured JSON.
/// Source: github.com/cloudevents/spec, v1.0.2, spec.md and formats/json-format.md
struct CloudEvent {
    let gateway: String
    let id: EventID
    let reception: Reception

    /// The whole event, ready to be stored, signed and sent.
    func write(_ notification: PushNotification) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 1000)
        json.beginObject()
        json.key("specversion")
        json.string("1.0" as StaticString)
        json.key("id")
        json.string(id.description)
        json.key("source")
        json.string("/signalbox/", gateway, "/", reception.source.name)
        json.key("type")
        json.string("io.signalbox.notification.received" as StaticString)
        json.key("subject")
        json.string(notification.vendor.name, "/", notification.kind.rawValue)
        json.key("time")
        json.string(reception.time)
        json.key("datacontenttype")
        json.string("application/json" as StaticString)
        json.key("dataschema")
        json.string("urn:signalbox:schema:notification:1" as StaticString)
        json.key("data")
        json.notification(notification)
        json.endObject()
        return json.bytes
    }
}
