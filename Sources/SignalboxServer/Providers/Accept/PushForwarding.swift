import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Decides whether a push goes to the real push service, and forwards it once its event is stored. An immutable value
/// of one config.
struct PushForwarding: Sendable {
    /// Knows the mode of each source; a source without an upstream has the mode `capture`.
    let passThrough: PassThrough
    /// Knows whether a source belongs to Apple's development environment.
    let senders: APNsSenders
    /// The sources' own tokens, which no push service accepts.
    let sources: SourceAccess

    /// The treatment of the pushes of one request. Decided before their events are stored, so that a request that
    /// cannot be forwarded leaves no event.
    enum Plan: Sendable {
        /// The gateway answers.
        case capture
        /// The push service answers. The closure makes the request from the id of the stored event.
        case forward(@Sendable (_ event: String) -> ForwardedPush)
        /// One of the pushes must be forwarded, and the request cannot be. `reason`: the cause and the remedy.
        case refuse(reason: String)
    }

    /// The plan for a request. All pushes have the same source. A refusal means that at least one push must be
    /// forwarded, and the request has several pushes, is to another API than those that ``destination(of:)`` knows, or
    /// has no credential that the service accepts.
    func plan(for pushes: [ProviderPush], of request: ProviderRequest) -> Plan {
        guard let push = pushes.first, passThrough.mode(of: push.source) != .capture,
            pushes.contains(where: { passThrough.forwards(token: $0.token, of: $0.source) })
        else { return .capture }
        guard let (provider, path) = Self.destination(of: request), pushes.count == 1 else {
            return .refuse(reason: "only pushes to APNs and messages:send of FCM can be forwarded; use another source")
        }
        guard let authorization = request.header("authorization") else {
            return .refuse(
                reason: "the request has no token that the push service accepts; send a provider token (JWT), since a "
                    + "client certificate cannot be forwarded")
        }
        if provider == .fcm, isOwnToken(authorization, request) {
            return .refuse(
                reason: "the gateway issued the access token, so Google does not accept it; use Google's token_uri, "
                    + "and list the project in fcm.projects")
        }
        var draft = ForwardedPush(provider, from: push.source, event: "", path: path, body: push.body)
        draft.headers = Self.headers(of: request) + Self.madeIdentifier(of: push, request, provider)
        draft.credential = Self.credential(authorization, provider)
        draft.repeatKey = push.repeatKey
        draft.isSandbox = isSandbox(request, of: push.source)
        draft.target = PushNotification.Target(
            token: push.token.map { passThrough.name(of: $0) }, topic: push.topic, condition: push.condition)
        draft.target.channel = push.channel
        return .forward { [draft] event in
            var push = draft
            push.event = event
            return push
        }
    }

    /// Forwards a push whose event is stored. Calls `done` once, on any thread; with nil if the service is too busy or
    /// the answer cannot be recorded.
    func forward(_ push: ForwardedPush, alarm: QueueAlarm, _ done: @escaping @Sendable (PushVerdict?) -> Void) {
        // Unstructured, because the caller is a thread of the queue, which must not wait. The timeout ends it.
        Task {
            switch await passThrough.forward(push) {
            case .verdict(let verdict): done(verdict)
            case .busy: done(nil)
            case .store(let error):
                _ = alarm.problem(of: .store(error))
                done(nil)
            }
        }
    }

    /// Forwards a push that is only checked, and has no event. As ``forward(_:alarm:_:)``.
    func check(_ push: ForwardedPush, _ done: @escaping @Sendable (PushVerdict?) -> Void) {
        // Unstructured, because the caller is an event loop. The timeout ends it.
        Task { done(await passThrough.check(push)) }
    }

    /// Logs why the pushes of a request cannot be forwarded. `reason`: of ``Plan/refuse(reason:)``.
    func recordRefusal(_ reason: String, of pushes: [ProviderPush]) {
        guard let source = pushes.first?.source else { return }
        passThrough.recordRefusal(reason, of: source)
    }

    /// True for a source whose pushes are all forwarded. Logs that its other requests are not.
    func refusesOthers(of source: SourceName) -> Bool {
        guard passThrough.mode(of: source) == .tee else { return false }
        passThrough.recordRefusal(
            "requests to manage topics or channels, and several pushes in one request, cannot be forwarded; send them "
                + "to the push service", of: source)
        return true
    }

    /// True for a source whose pushes are all forwarded.
    func forwardsAll(of source: SourceName) -> Bool { passThrough.mode(of: source) == .tee }

    // MARK: Parts

    /// The service and the path of a request that can be forwarded; nil for any other.
    private static func destination(of request: ProviderRequest) -> (provider: ForwardedPush.Provider, path: String)? {
        var path = request.path[...]
        // The secret of a source and the label of a run are for the gateway only.
        for prefix in ["/s/", "/r/"] where path.hasPrefix(prefix) {
            let rest = path.dropFirst(prefix.count)
            path = rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
        }
        let target = String(path) + (request.query.map { "?" + $0 } ?? "")
        if path.hasPrefix("/3/device/") || path.hasPrefix("/4/broadcasts/apps/") { return (.apns, target) }
        if path.hasPrefix("/v1/projects/"), path.hasSuffix("/messages:send") { return (.fcm, target) }
        return nil
    }

    /// The header fields to forward, in their order, with repeated ones.
    private static func headers(of request: ProviderRequest) -> [(name: String, value: String)] {
        // The body was decompressed when it arrived.
        ForwardedPush.forwarded(request.headers).filter { $0.name != "content-encoding" }
    }

    /// The field with the identifier that the gateway made for a push to APNs without one: the sender, the event and
    /// Apple then have the same.
    private static func madeIdentifier(
        of push: ProviderPush, _ request: ProviderRequest, _ provider: ForwardedPush.Provider
    ) -> [(name: String, value: String)] {
        let name = push.channel == nil ? "apns-id" : "apns-request-id"
        guard provider == .apns, let id = push.transport?.apnsId, request.header(name) == nil else { return [] }
        return [(name, id)]
    }

    /// Key and team of a provider token, which stay the same when the sender renews it. Otherwise the digest of the
    /// credential. Pushes with equal values share a connection to the service. Reads a token without verifying it:
    /// Apple does that.
    private static func credential(_ authorization: String, _ provider: ForwardedPush.Provider) -> [UInt8] {
        let text = authorization.split(separator: " ", maxSplits: 1).last ?? ""
        if provider == .apns, let token = JSONWebToken(Array(text.utf8), in: .anyBase64),
            let team = token.readClaims({ $0["iss"]?.string }), let key = token.readHeader()?.keyID
        {
            return Array("\(team)\0\(key)".utf8)
        }
        return sha256(Array(authorization.utf8))
    }

    /// The host that the sender addressed decides, if it is one of Apple's. Otherwise the option of the source decides.
    private func isSandbox(_ request: ProviderRequest, of source: SourceName) -> Bool {
        if let host = request.connection.providerHost { return host.isDevelopment }
        return switch (request.authority ?? "").prefix(while: { $0 != ":" }).lowercased() {
        case "api.sandbox.push.apple.com", "api.development.push.apple.com": true
        case "api.push.apple.com": false
        default: senders.isDevelopment(source)
        }
    }

    /// True for tokens of sources, those that the gateway granted to service accounts, and legacy server keys. Google
    /// accepts none of them.
    func isOwnToken(_ authorization: String, _ request: ProviderRequest) -> Bool {
        let token = authorization.split(separator: " ", maxSplits: 1).last ?? ""
        return authorization.lowercased().hasPrefix("key=") || GrantedTokens.mayBeGranted(String(token))
            || sources.owner(of: Credentials(request)) != nil
    }
}

// MARK: Answers

extension APNsReply {
    /// The service's answer, or 503 if it is unreachable. The identifier of the request is never missing. A status
    /// outside of 200 to 599 counts as unreachable.
    func answer(_ verdict: PushVerdict) -> ProviderReply {
        guard let status = verdict.status, (200..<600).contains(status) else { return failure(.serviceUnavailable) }
        var headers = verdict.headers.map { ProviderReply.Header(name: $0.name, value: $0.value) }
        if verdict.header(name) == nil { headers.insert(.init(name: name, value: id), at: 0) }
        return ProviderReply(status: status, headers: headers, body: verdict.body)
    }
}

extension GoogleError {
    /// The service's answer, or 503 if it is unreachable.
    static func answer(_ verdict: PushVerdict) -> ProviderReply {
        guard let status = verdict.status, (200..<600).contains(status) else { return unavailable.reply }
        return ProviderReply(
            status: status, headers: verdict.headers.map { .init(name: $0.name, value: $0.value) }, body: verdict.body)
    }
}
