import SignalboxStore

/// The payload, unchanged.
struct RawPayload: MessageFormat {
    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        guard let payload = leases[0].payload else {
            throw UnwritableMessage(
                "the payload of this event was not stored; another format can deliver the event")
        }
        return WebhookMessage(contentType: "application/json", body: payload)
    }
}
