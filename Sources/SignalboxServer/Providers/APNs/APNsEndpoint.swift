import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Apple's provider API: accepts pushes to devices as APNs does, and makes events of them.
///
/// Apple does not document the order of its checks. This endpoint checks path, method, repeated fields, identity,
/// `apns-id`, device token, topic, push type, priority, expiration, collapse identifier, size, and the body.
final class APNsEndpoint: ProviderEndpoint {
    // A class because every push refers to it, and a copy of all that it holds costs as much as reading a small push.
    /// Identifies senders.
    let access: APNsAccess
    /// Keeps the channels of broadcasts.
    let channels: APNsChannels
    /// The same object in all endpoints of a config.
    let acceptance: PushAcceptance
    /// Decides how long the answer to a rejected proof is held.
    private let failures: FailedProofs

    /// The most bytes of a payload; those of VoIP calls and broadcasts may be longer.
    private static let largestPayload = 4096
    /// The limit of VoIP calls and broadcasts, in bytes. A push is a VoIP call by its push type, otherwise by a topic
    /// that ends with `.voip`.
    static let largestCall = 5120

    /// `failures`: shared by all configs, so an attack is logged once. `now`: the clock for the age of tokens.
    init(
        _ senders: APNsSenders, _ acceptance: PushAcceptance, channels: any ChannelStore, failures: FailedProofs,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        access = APNsAccess(senders: senders, tokens: APNsTokens(senders, now: now))
        self.channels = APNsChannels(store: channels, senders: senders, alarm: acceptance.store.alarm)
        (self.acceptance, self.failures) = (acceptance, failures)
    }

    /// Decides on the head alone, so a client without a proof, or with too long a body, is answered at once. A refusal
    /// of a proof is recorded, and may be held; see ``FailedProofs/record(_:from:detail:)``.
    func verdict(on request: ProviderRequest) -> ProviderVerdict? {
        guard let call = APNsCall(request) else { return nil }
        do throws(APNsReason) {
            switch call.target.resource {
            case .device(let token): return admit(try push(call, to: token), of: call)
            case .broadcast(let bundle): return admit(try broadcast(call, to: bundle), of: call)
            case .channels(let bundle, let id):
                return admit(try manage(call, of: bundle, id: id), of: call)
            case .allChannels(let bundle):
                return admit(try manage(call, of: bundle, id: nil, listsAll: true), of: call)
            case .unknown: throw .badPath
            }
        } catch {
            var refusal = call.reply.failure(error)
            // RFC 9110, 15.5.6.
            if error == .methodNotAllowed {
                let methods = call.target.resource.methods.joined(separator: ", ")
                refusal.headers.append(ProviderReply.Header(name: "allow", value: methods))
            }
            if error.isFailedProof {
                refusal.delay = failures.record(
                    .apns(error), from: request.connection,
                    detail: access.detail(of: call, for: error))
            }
            return .reply(refusal)
        }
    }

    func service(of path: String) -> ProviderService? { Self.service(of: path) }

    static func service(of path: String) -> ProviderService? {
        switch APNsTarget(path: path)?.resource {
        case .device, .broadcast: .apnsPushes
        case .channels, .allChannels: .apnsChannels
        case .unknown, nil: nil
        }
    }

    /// Counts a valid request against the limits of its source. A connection beyond the limit ends with its answer.
    private func admit(_ body: ProviderBody, of call: APNsCall) -> ProviderVerdict {
        guard let source = body.source else { return .body(body) }
        switch acceptance.admission.admit(source, call.request) {
        case .admitted(let permit):
            var body = body
            body.permit = permit
            return .body(body)
        case .refused(let excess):
            var refusal = call.reply.failure(.tooManyRequests)
            if excess == .connections { refusal.after = .close }
            return .reply(refusal)
        }
    }

    // MARK: Pushes

    /// Checks the head of `POST /3/device/TOKEN`, and throws the first fault in the order that the type documents. The
    /// handler of the body rejects an empty one; the intake of the queue reads the JSON.
    private func push(_ call: APNsCall, to token: String) throws(APNsReason) -> ProviderBody {
        try call.check(isMethod: call.request.method == "POST")
        let sender = try access.sender(of: call)
        call.request.mark.identify(sender.source)
        let headers = call.headers
        try APNsHeaders.checkID(headers.id)
        let isForwarded = acceptance.forwarding?.forwardsAll(of: sender.source) == true
        let token = try APNsToken.read(token, isForwarded: isForwarded)
        let topic = try headers.readTopic(default: sender.defaultTopic)
        guard access.senders.allows(topic, for: sender.source) else { throw .topicDisallowed }
        let transport = try transport(of: call, isForwarded: isForwarded)
        let isCall = transport.pushType.map { $0 == "voip" } ?? topic.hasSuffix(".voip")
        let limit = isCall ? Self.largestCall : Self.largestPayload
        try call.checkLength(upTo: limit)
        let source = sender.source
        return ProviderBody(
            limit: limit, refusal: { call.reply.failure(APNsReason($0)) }, source: source
        ) { [self] body, done in
            var push = ProviderPush(body: body, source: source, platform: .apns)
            push.token = token
            push.topic = topic
            push.transport = transport
            push.expiration = .init(apns: transport.expiration)
            push.repeatKey = headers.id?.lowercased()
            push.warnOfPriority()
            if isForwarded, headers.hasUnknownPushType { push.warnOfType() }
            guard !body.isEmpty else { return done(call.reply.failure(.payloadEmpty)) }
            acceptance.accept([push], of: call.request, done, as: wording(of: call, for: source))
        }
    }

    /// Reads the header fields that the event shows, in the order of their checks. `isForwarded`: Apple decides on
    /// values that the gateway does not know. The identifier is that of the answer, so the event has one even if the
    /// client sent none.
    private func transport(of call: APNsCall, isForwarded: Bool) throws(APNsReason) -> PushNotification.Transport {
        var transport = PushNotification.Transport()
        transport.apnsId = call.reply.id
        transport.pushType = try call.headers.readPushType(isForwarded: isForwarded)
        transport.priority = try call.headers.readPriority()
        transport.expiration = try call.headers.readExpiration()
        transport.collapseId = try call.headers.readCollapseID()
        return transport
    }

    /// Apple has no reason for an invalid label of a run. Clients need one of Apple's reasons, and their identifier,
    /// even then.
    func invalidRun(_ request: ProviderRequest) -> ProviderReply {
        APNsCall(request)?.reply.failure(.badRequestParams) ?? .invalidRun
    }

    /// Describes pushes and broadcasts. A path that Apple does not have counts as a push, so captures show a sender
    /// with a wrong URL. Nil for the management of channels.
    func refusedPush(of request: ProviderRequest) -> RefusedPush? {
        guard let call = APNsCall(request) else { return nil }
        switch call.target.resource {
        case .device(let token):
            return RefusedPush(
                service: .apns, token: try? APNsToken.read(token), topic: call.headers.topic,
                detail: { [access] in access.detail(of: call, for: APNsReason(rawValue: $0)) })
        case .broadcast(let bundle):
            return RefusedPush(
                service: .apns, topic: bundle, channel: call.headers.channelID,
                detail: { [access] in access.detail(of: call, for: APNsReason(rawValue: $0)) })
        case .unknown: return RefusedPush(service: .apns)
        case .channels, .allChannels: return nil
        }
    }

    // MARK: Accepting

    /// Accepts a push in a task. An empty body is answered with ``APNsReason/payloadEmpty`` and not stored.
    func accept(_ push: ProviderPush, of call: APNsCall) async -> ProviderReply {
        guard !push.body.isEmpty else { return call.reply.failure(.payloadEmpty) }
        return await acceptance.accept([push], of: call.request, as: wording(of: call, for: push.source))
    }

    /// The answer to the only push of a request. A repeat gets the same answer as the first request. Answers of the
    /// development environment also have `apns-unique-id`: the id of the event.
    private func wording(of call: APNsCall, for source: SourceName) -> PushAcceptance.Wording {
        // A host that the client names decides.
        let host = call.request.connection.providerHost
        let isDevelopment = host?.isDevelopment ?? access.senders.isDevelopment(source)
        return { answers in
            let reply = call.reply
            return switch answers.first {
            case .accepted(let event), .repeated(let event):
                reply.success(200, isDevelopment ? [.init(name: "apns-unique-id", value: event)] : [])
            case .rejected(let rejection): reply.failure(APNsReason(rejection))
            case .limited: reply.failure(.tooManyRequests)
            case .verdict(let verdict): reply.answer(verdict)
            case .injected(let failure): reply.failure(failure)
            case .unavailable, nil: reply.failure(.serviceUnavailable)
            }
        }
    }
}

extension APNsReason {
    /// Exhausted memory becomes 503, which permits the client to repeat the push.
    init(_ refusal: ProviderBody.Refusal) {
        self =
            switch refusal {
            case .tooLarge: .payloadTooLarge
            case .busy: .serviceUnavailable
            }
    }

    /// Apple has one word for every body that cannot be read. A body whose routes take too much work counts as too
    /// large.
    fileprivate init(_ rejection: Rejection) {
        switch rejection.code {
        case .tooLarge, .tooCostly: self = .payloadTooLarge
        default: self = .payloadEmpty
        }
    }
}

extension ProviderPush {
    /// A background push must not have the priority 10, which a request without the field has too
    /// (developer.apple.com, "Pushing background updates to your app").
    fileprivate mutating func warnOfPriority() {
        guard transport?.pushType == "background", transport?.priority ?? 10 == 10 else { return }
        warnings.append(
            Warning(
                "apns.background-priority", at: "/transport",
                "APNs may reject a background push with priority 10; send apns-priority 5."))
    }

    /// Only a forwarded push may have such a type.
    fileprivate mutating func warnOfType() {
        warnings.append(
            Warning(
                "apns.push-type-unknown", at: "/transport",
                "The gateway does not know this apns-push-type; Apple decides on it."))
    }
}
