package import Foundation
package import SignalboxEgress
package import SignalboxRouting
package import SignalboxStore

/// Posts events to a webhook, signed as Standard Webhooks says.
package struct WebhookSender: Sender {
    private let webhook: Destination.Webhook
    private let keys: WebhookKeys
    private let http: OutboundHTTP
    private let userAgent: String
    private let now: @Sendable () -> Date

    /// `keys`: what the webhook's references stand for, all of which can sign.
    package init(
        _ webhook: Destination.Webhook, keys: WebhookKeys, http: OutboundHTTP, version: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.webhook = webhook
        self.keys = keys
        self.http = http
        self.now = now
        userAgent = "signalbox/\(version)"
    }

    package func send(_ lease: Lease) async -> SendResult {
        let startedAt = now()
        let result = await http.attempt(request(for: lease))
        var attempt = Attempt(startedAt: startedAt, duration: result.duration, remote: result.remoteAddress)
        switch result.answer {
        case .success(let reply):
            attempt.excerpt = reply.excerpt
            return SendResult(.replied(status: reply.status, retryAfter: reply.retryAfter), attempt)
        case .failure(let error):
            attempt.error = error.code
            return SendResult(.failed(error), attempt)
        }
    }

    private func request(for lease: Lease) -> OutboundRequest {
        let timestamp = Int(now().timeIntervalSince1970)
        return OutboundRequest(
            url: webhook.url,
            headers: [
                ("content-type", "application/cloudevents+json"),
                ("user-agent", userAgent),
                ("webhook-id", lease.event),
                ("webhook-timestamp", String(timestamp)),
                ("webhook-signature", keys.signatures(id: lease.event, timestamp: timestamp, body: lease.body)),
                ("traceparent", Self.traceParent(of: lease)),
            ],
            body: lease.body, timeout: webhook.timeout)
    }

    /// W3C Trace Context, version 00: the event's id is the trace, each attempt a span of its own.
    static func traceParent(of lease: Lease) -> String {
        let trace = lease.event.filter { $0 != "-" }
        let span = String(UInt64.random(in: 1 ... .max), radix: 16)
        return "00-\(trace)-\(String(repeating: "0", count: 16 - span.count))\(span)-00"
    }
}
