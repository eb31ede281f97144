import SignalboxStore

/// CloudEvents 1.0, structured: the event's bytes as they are stored.
/// Source: github.com/cloudevents/spec, v1.0.2, bindings/http-protocol-binding.md, 3.2
struct CloudEventsStructured: MessageFormat {
    func message(for leases: [Lease]) -> WebhookMessage {
        WebhookMessage(contentType: "application/cloudevents+json", body: leases[0].body)
    }
}
