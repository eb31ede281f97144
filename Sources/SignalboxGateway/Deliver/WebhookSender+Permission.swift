import SignalboxConfig
import SignalboxEgress

extension WebhookSender {
    /// Asks with a validation request (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4.1). It bears the webhook's own
    /// headers and access token, and leaves the way that deliveries do.
    package func askPermission() async -> Permission {
        guard let handshake = webhook.handshake else { return .given(perMinute: nil) }
        var headers = [("user-agent", userAgent), ("webhook-request-origin", handshake.origin)]
        if let rate = handshake.perMinute { headers.append(("webhook-request-rate", String(rate))) }
        let request = OutboundRequest(
            method: .options, url: webhook.url, headers: headers + self.headers, timeout: webhook.timeout, keptBytes: 0,
            keptHeaders: Permission.headers, transport: webhook.transport)
        return Permission(await attempt(request).answer, to: handshake)
    }
}
