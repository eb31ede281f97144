package import Foundation
package import SignalboxConfig
package import SignalboxEgress
package import SignalboxStore

/// Posts events to a webhook, signed as Standard Webhooks specifies; without keys, unsigned.
///
/// A request has the same `webhook-id` and body in every attempt, and a new timestamp and signature. Redirects are
/// not followed. The destination's timeout covers the request and its reply. Only the token cache is shared state.
package struct WebhookSender: Sender {
    /// The URL, limits and transport of the webhook.
    private let webhook: Destination.Webhook
    /// Makes bodies in the webhook's format.
    private let writer: MessageWriter
    /// The signing keys. Every message has a signature by each of them, and none without keys.
    private let keys: WebhookKeys
    /// Shared by destinations with the same address policy.
    private let http: OutboundHTTP
    private let userAgent: String
    /// The webhook's own headers, in addition to those of the format and the signature.
    private let headers: [(name: String, value: String)]
    /// The URL and the headers that are references in the config. Hidden in the records of replies.
    private let secrets: [SecretEcho]
    /// Nil without client credentials.
    private let tokens: AccessTokens?
    /// Records the spans of attempts; nil for none.
    private let telemetry: Telemetry?
    /// The wall clock, for timestamps of signatures.
    private let now: @Sendable () -> Date
    /// Measures how long a token takes. Monotonic.
    private let instant: @Sendable () -> ContinuousClock.Instant

    /// `keys`: the webhook's secrets, all of which can sign. `headers`: the webhook's own. `clientSecret`: the
    /// secret of its OAuth credentials; nil without them. `version`: for the `user-agent` unless the webhook sets its
    /// own. `http`: the client for the destination's address policy. Client credentials require `clientSecret`.
    /// `telemetry`: records the spans of attempts; nil for none.
    package init(
        _ webhook: Destination.Webhook, keys: WebhookKeys, headers: [(name: String, value: String)] = [],
        clientSecret: String? = nil, http: OutboundHTTP, version: String, telemetry: Telemetry? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.webhook = webhook
        writer = MessageWriter(webhook.format)
        self.keys = keys
        self.http = http
        self.headers = headers
        self.telemetry = telemetry
        self.now = now
        self.instant = instant
        let names = Set(webhook.headers.filter(\.isSecret).map(\.name))
        let secretHeaders = headers.filter { names.contains($0.name) }.map(\.value)
        secrets =
            (webhook.urlReference == nil && webhook.format.name.isSigned ? [] : [SecretEcho(webhook.url)])
            + (secretHeaders.isEmpty ? [] : [SecretEcho(headers: secretHeaders)])
        tokens = webhook.credentials.map { credentials in
            guard let clientSecret else { preconditionFailure("Client credentials need their secret.") }
            return AccessTokens(
                credentials, secret: clientSecret, transport: webhook.transport, timeout: webhook.timeout, http: http)
        }
        userAgent = webhook.userAgent ?? "signalbox/\(version)"
    }

    package var url: String? { webhook.url }

    package func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        let startedAt = now()
        let (id, events) = (WebhookMessageID.of(leases), leases.map { EventTrace($0.body) })
        let isLate = zip(leases, events).contains { $1 != nil && AttemptTrace.isLate($0.event, at: startedAt) }
        let trace = AttemptTrace(of: events, message: id, isLate: isLate)
        let sent = webhook.trace == .full ? leases : zip(leases, events).map { $0.withoutTrace($1) }
        let request: OutboundRequest
        do throws(UnwritableMessage) {
            request = try self.request(for: sent, id, trace)
        } catch {
            let unusable = TransportError.unusable(error.description)
            let attempt = Attempt(startedAt: startedAt, duration: .zero, error: unusable.code)
            return done { recorded(SendResult(.failed(unusable), attempt), of: leases, id, trace) }
        }
        attempt(request, if: mayBegin) { token, result in
            done { result.map { recorded(sendResult($0, of: request, token, at: startedAt), of: leases, id, trace) } }
        }
    }

    /// Records the span of an attempt if it is exported.
    private func recorded(_ result: SendResult, of leases: [Lease], _ id: String, _ trace: AttemptTrace) -> SendResult {
        guard let telemetry, telemetry.isExporting, trace.context.isSampled else { return result }
        var result = result
        result.trace = trace.context
        telemetry.record(trace.span(of: leases, message: id, to: webhook.url, result))
        return result
    }

    /// The result of an attempt, and its record without secrets. `token`: the access token of its last request.
    private func sendResult(
        _ result: OutboundResult, of request: OutboundRequest, _ token: String?, at startedAt: Date
    ) -> SendResult {
        var attempt = Attempt(startedAt: startedAt, duration: result.duration, remote: result.remoteAddress)
        switch result.answer {
        case .success(let reply):
            let isSuccess = (200..<300).contains(reply.status)
            // Most replies have nothing to hide, so the token is seldom examined.
            if !isSuccess || !reply.excerpt.isEmpty {
                let secrets = self.secrets + (token.map { [SecretEcho(headers: [$0])] } ?? [])
                attempt.excerpt = secrets.reduce(reply.excerpt) { $1.masked($0) }
                if !isSuccess { attempt.exchange = exchange(request, reply, secrets).json }
            }
            return SendResult(.replied(status: reply.status, retryAfter: reply.retryAfter), attempt)
        case .failure(let error):
            attempt.error = error.code
            attempt.exchange = exchange(request, nil, secrets).json
            return SendResult(.failed(error), attempt)
        }
    }

    private func exchange(
        _ request: OutboundRequest, _ reply: OutboundReply?, _ secrets: [SecretEcho]
    ) -> FailedExchange {
        FailedExchange(
            request: request, reply: reply, urlReference: webhook.urlReference?.description, secrets: secrets)
    }

    /// One attempt; with access tokens, at most two requests, because a token may have been revoked early. Both end
    /// within the timeout of the request, so that the attempt takes at most twice that time with its tokens. After a
    /// 401 it requests another token and repeats the request once, with the same id and signature. Nil if `mayBegin`
    /// said no: a 401 to an old token is not the destination's answer to the delivery. Passes on the token of the last
    /// request too.
    private func attempt(
        _ request: OutboundRequest, if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ token: String?, OutboundResult?) -> Void
    ) {
        guard let tokens else {
            guard mayBegin() else { return done(nil, nil) }
            return http.attempt(request) { done(nil, $0) }
        }
        let begun = instant()
        send(request, with: tokens, insteadOf: nil, begun, if: mayBegin) { token, result in
            guard let token, case .success(let reply)? = result?.answer, reply.status == 401 else {
                return done(token, result)
            }
            send(request, with: tokens, insteadOf: token, begun, if: mayBegin, whenDone: done)
        }
    }

    /// Sends the request with a token, and passes both to `done`. Without a token, the result is the reason; it is nil
    /// if `mayBegin` says no. `begun`: the attempt.
    private func send(
        _ request: OutboundRequest, with tokens: AccessTokens, insteadOf refused: String?,
        _ begun: ContinuousClock.Instant, if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ token: String?, OutboundResult?) -> Void
    ) {
        tokens.token(insteadOf: refused) { token in
            switch token {
            case .success(let token):
                guard mayBegin() else { return done(token, nil) }
                let time = instant() - begun
                // In less than a tenth of its time, the request would fail for the token server's fault.
                guard time < request.timeout * 9 / 10 else {
                    let late = TransportError.token("the access token took longer than the destination's timeout")
                    return done(nil, OutboundResult(.failure(late), duration: time))
                }
                http.attempt(request.bearing(token, within: request.timeout - time)) { done(token, $0) }
            case .failure(let error): done(nil, OutboundResult(.failure(error), duration: instant() - begun))
            }
        }
    }

    /// Requests permission with a validation request (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4.1). It has
    /// the webhook's own headers and access token, and uses the same transport options as deliveries.
    package func askPermission() async -> Permission {
        guard let handshake = webhook.handshake else { return .given(perMinute: nil) }
        var headers = [("user-agent", userAgent), ("webhook-request-origin", handshake.origin)]
        if let rate = handshake.perMinute { headers.append(("webhook-request-rate", String(rate))) }
        let request = OutboundRequest(
            method: .options, url: webhook.url, headers: headers + self.headers, timeout: webhook.timeout, keptBytes: 0,
            keptHeaders: Permission.headers, transport: webhook.transport)
        let result = await withCheckedContinuation { result in
            attempt(request, if: { true }) { result.resume(returning: $1) }
        }
        return result.map { Permission($0.answer, to: handshake) } ?? .unknown
    }

    /// Throws ``UnwritableMessage`` if the format cannot express the events. The timestamp is the time of this
    /// attempt.
    private func request(
        for leases: [Lease], _ id: String, _ trace: AttemptTrace
    ) throws(UnwritableMessage) -> OutboundRequest {
        let message = try writer.message(for: leases)
        let timestamp = Int(now().timeIntervalSince1970)
        var headers = [("user-agent", userAgent), ("webhook-id", id)]
        if !keys.isEmpty {
            // The signature covers the uncompressed bytes: servers decompress them before the receiver's code.
            let signatures = keys.signatures(id: id, timestamp: timestamp, body: message.body)
            headers += [("webhook-timestamp", String(timestamp)), ("webhook-signature", signatures)]
        }
        headers.append(("signalbox-attempt", String((leases.map(\.earlier).max() ?? 0) + 1)))
        headers += trace.headers(webhook.trace)
        if let handshake = webhook.handshake { headers.append(("webhook-request-origin", handshake.origin)) }
        if let contentType = message.contentType { headers.insert(("content-type", contentType), at: 0) }
        headers += message.headers
        var body = message.body
        if webhook.compression == .gzip {
            body = gzip(body)
            headers.append(("content-encoding", "gzip"))
        }
        var request = OutboundRequest(
            url: webhook.url, headers: headers + self.headers, body: body, timeout: webhook.timeout,
            transport: webhook.transport)
        request.failureHeaders = FailedExchange.responseFields
        return request
    }
}

extension OutboundRequest {
    /// The token must be valid in a header, as ``AccessTokens`` checks.
    fileprivate func bearing(_ token: String, within time: Duration) -> OutboundRequest {
        var request = self
        request.timeout = time
        request.headers.append(("authorization", "Bearer \(token)"))
        return request
    }
}
