import SignalboxJSON
import SignalboxStore

/// The payload that Standard Webhooks recommends: the event's type, its time, its data. Its id is in `webhook-id`.
/// Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, "Payload structure"
struct StandardWebhooksPayload: MessageFormat {
    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        let parser = JSONParser.forEvents()
        let event = try parser.event(of: leases[0])
        return withExtendedLifetime(parser) {
            var json = JSONWriter(reservingCapacity: leases[0].body.count)
            json.beginObject()
            if let type = event["type"] {
                json.key("type")
                json.value(type)
            }
            if let time = event["time"] {
                json.key("timestamp")
                json.value(time)
            }
            if let data = event["data"] {
                json.key("data")
                json.value(data)
            }
            json.endObject()
            return WebhookMessage(contentType: "application/json", body: json.bytes)
        }
    }
}
