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

    package func send(_ lease: Lease) async -> SendResult { await send([lease]) }

    /// Makes one attempt with deliveries that go into one request: one, unless the format batches.
    package func send(_ leases: [Lease]) async -> SendResult {
        let startedAt = now()
        let request: OutboundRequest
        do throws(UnwritableMessage) {
            request = try self.request(for: leases)
        } catch {
            let unusable = TransportError.unusable(error.description)
            return SendResult(.failed(unusable), Attempt(startedAt: startedAt, duration: .zero, error: unusable.code))
        }
        let result = await http.attempt(request)
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

    private func request(for leases: [Lease]) throws(UnwritableMessage) -> OutboundRequest {
        let message = try webhook.format.message(for: leases)
        let id = MessageID.of(leases)
        let timestamp = Int(now().timeIntervalSince1970)
        // The signature is over the bytes that the receiver's code gets, which servers decompress before it.
        let signatures = keys.signatures(id: id, timestamp: timestamp, body: message.body)
        var headers = [
            ("user-agent", userAgent),
            ("webhook-id", id),
            ("webhook-timestamp", String(timestamp)),
            ("webhook-signature", signatures),
            ("signalbox-attempt", String((leases.map(\.earlier).max() ?? 0) + 1)),
            ("traceparent", Self.traceParent(of: id)),
        ]
        if let contentType = message.contentType { headers.insert(("content-type", contentType), at: 0) }
        headers += message.headers.map { ($0.name, $0.value) }
        var body = message.body
        if webhook.compression == .gzip {
            body = gzip(body)
            headers.append(("content-encoding", "gzip"))
        }
        return OutboundRequest(url: webhook.url, headers: headers, body: body, timeout: webhook.timeout)
    }

    /// W3C Trace Context, version 00: the message's id is the trace, each attempt a span of its own.
    static func traceParent(of message: String) -> String {
        let trace = message.filter { $0 != "-" }
        let span = String(UInt64.random(in: 1 ... .max), radix: 16)
        return "00-\(trace)-\(String(repeating: "0", count: 16 - span.count))\(span)-00"
    }
}
