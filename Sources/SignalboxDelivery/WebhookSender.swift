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
    private let headers: [(name: String, value: String)]
    private let tokens: AccessTokens?
    private let now: @Sendable () -> Date

    /// `keys`: what the webhook's references stand for, all of which can sign. `headers`: its own, as they are sent.
    /// `clientSecret`: that of its credentials, when it has any.
    package init(
        _ webhook: Destination.Webhook, keys: WebhookKeys, headers: [(name: String, value: String)] = [],
        clientSecret: String? = nil, http: OutboundHTTP, version: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.webhook = webhook
        self.keys = keys
        self.http = http
        self.headers = headers
        self.now = now
        tokens = webhook.credentials.map { credentials in
            guard let clientSecret else { preconditionFailure("Client credentials need their secret.") }
            return AccessTokens(
                credentials, secret: clientSecret, way: webhook.way, timeout: webhook.timeout, http: http)
        }
        userAgent = "signalbox/\(version)"
    }

    package func send(_ lease: Lease) async -> RetryPolicy.Attempt {
        switch await attempt(lease).answer {
        case .success(let reply): .replied(status: reply.status, retryAfter: reply.retryAfter)
        case .failure(let error): .failed(error)
        }
    }

    /// One attempt; with access tokens, two requests at most, because a token may have been revoked before its time.
    private func attempt(_ lease: Lease) async -> OutboundResult {
        guard let tokens else { return await http.attempt(request(for: lease)) }
        let begun = ContinuousClock.now
        do throws(TransportError) {
            let token = try await tokens.token()
            let result = await http.attempt(request(for: lease, token: token))
            guard case .success(let reply) = result.answer, reply.status == 401 else { return result }
            return await http.attempt(request(for: lease, token: try await tokens.token(insteadOf: token)))
        } catch {
            return OutboundResult(.failure(error), duration: ContinuousClock.now - begun)
        }
    }

    private func request(for lease: Lease, token: String? = nil) -> OutboundRequest {
        let timestamp = Int(now().timeIntervalSince1970)
        let own = [
            ("content-type", "application/cloudevents+json"),
            ("user-agent", userAgent),
            ("webhook-id", lease.event),
            ("webhook-timestamp", String(timestamp)),
            ("webhook-signature", keys.signatures(id: lease.event, timestamp: timestamp, body: lease.body)),
            ("traceparent", Self.traceParent(of: lease)),
        ]
        let authorization = token.map { [("authorization", "Bearer \($0)")] } ?? []
        return OutboundRequest(
            url: webhook.url, headers: own + authorization + headers, body: lease.body, timeout: webhook.timeout,
            way: webhook.way)
    }

    /// W3C Trace Context, version 00: the event's id is the trace, each attempt a span of its own.
    static func traceParent(of lease: Lease) -> String {
        let trace = lease.event.filter { $0 != "-" }
        let span = String(UInt64.random(in: 1 ... .max), radix: 16)
        return "00-\(trace)-\(String(repeating: "0", count: 16 - span.count))\(span)-00"
    }
}
