import SignalboxStore

/// The payload as the gateway got it.
struct RawPayload: MessageFormat {
    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        guard let payload = leases[0].payload else {
            throw UnwritableMessage(
                "the payload as it came was not kept for this event; another format can deliver it")
        }
        return WebhookMessage(contentType: "application/json", body: payload)
    }
}
