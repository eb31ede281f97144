import SignalboxStore

/// CloudEvents 1.0, batched: the events' bytes as they are stored, in a JSON array.
/// Source: github.com/cloudevents/spec, v1.0.2, bindings/http-protocol-binding.md, 3.3; formats/json-format.md, 4
struct CloudEventsBatch: MessageFormat {
    func message(for leases: [Lease]) -> WebhookMessage {
        var body: [UInt8] = []
        body.reserveCapacity(leases.reduce(2) { $0 + $1.body.count + 1 })
        body.append(UInt8(ascii: "["))
        for lease in leases {
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            body += lease.body
        }
        body.append(UInt8(ascii: "]"))
        return WebhookMessage(contentType: "application/cloudevents-batch+json", body: body)
    }
}
