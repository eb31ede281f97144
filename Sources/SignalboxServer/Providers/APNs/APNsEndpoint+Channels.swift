import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Broadcasts and channels. Such requests are rare, so each has a task of its own.
extension APNsEndpoint {
    /// The most bytes of a request to create a channel.
    private static let largestChannel = 4096

    // MARK: Broadcasts

    /// `POST /4/broadcasts/apps/BUNDLE`. Checks the head in the order of pushes; the channel is looked up last. An
    /// expiration other than 0 requires a channel that stores its last message; otherwise the answer is
    /// ``APNsReason/badExpirationDate``. A source whose pushes are all forwarded names channels of Apple, so the
    /// gateway does not look them up.
    func broadcast(_ call: APNsCall, to bundle: String) throws(APNsReason) -> ProviderBody {
        try call.check(isMethod: call.request.method == "POST")
        let sender = try access.sender(of: call)
        call.request.mark.identify(sender.source)
        try APNsHeaders.checkID(call.headers.requestID)
        let id = try APNsChannels.id(call.headers.channelID)
        try check(bundle, of: sender)
        guard let type = call.headers.pushType else { throw .missingPushType }
        guard type.lowercased() == "liveactivity" else { throw .invalidPushType }
        var transport = PushNotification.Transport()
        transport.apnsId = call.reply.id
        transport.pushType = type
        transport.priority = try call.headers.readPriority()
        transport.expiration = try call.headers.readExpiration()
        try call.checkLength(upTo: Self.largestCall)
        let parameters = transport
        let (endpoint, requestID) = (self, call.headers.requestID?.lowercased())
        return body(of: call, from: sender.source, upTo: Self.largestCall) {
            body async throws(APNsReason) -> ProviderReply in
            // A forwarded broadcast names a channel of Apple's.
            if endpoint.acceptance.forwarding?.forwardsAll(of: sender.source) != true {
                let channel = try await endpoint.channels.channel(id, of: bundle, for: sender.source)
                guard channel.storesLast || parameters.expiration ?? 0 == 0 else { throw .badExpirationDate }
            }
            var push = ProviderPush(body: body, source: sender.source, platform: .apns)
            push.topic = bundle
            push.channel = id
            push.transport = parameters
            push.expiration = .init(apns: parameters.expiration)
            push.repeatKey = requestID
            return await endpoint.accept(push, of: call)
        }
    }

    // MARK: Channels

    /// `/1/apps/BUNDLE/channels`: POST creates, GET reads or lists, DELETE removes. `id`: the identifier in the path,
    /// as APNSwift sends it; others send the header field. `listsAll`: the path is `all-channels`. Channels belong to
    /// the sources that list the app as a topic. If no source lists it, they belong to the source that created them.
    /// Throws ``APNsReason/serviceUnavailable`` for a source whose pushes are all forwarded: its channels are at Apple,
    /// and such requests are not forwarded.
    func manage(
        _ call: APNsCall, of bundle: String, id: String?, listsAll: Bool = false
    ) throws(APNsReason) -> ProviderBody {
        try call.check(isMethod: call.target.resource.methods.contains(call.request.method))
        let sender = try access.sender(of: call)
        call.request.mark.identify(sender.source)
        try APNsHeaders.checkID(call.headers.requestID)
        try check(bundle, of: sender)
        guard acceptance.forwarding?.refusesOthers(of: sender.source) != true else { throw .serviceUnavailable }
        let (channels, reply, source) = (self.channels, call.reply, sender.source)
        if call.request.method == "POST" {
            try call.checkLength(upTo: Self.largestChannel)
            return body(of: call, from: sender.source, upTo: Self.largestChannel) {
                body async throws(APNsReason) -> ProviderReply in
                let id = try await channels.create(for: bundle, by: source, body)
                return reply.success(201, [.init(name: "apns-channel-id", value: id)])
            }
        }
        let named = call.headers.channelID ?? id.map { $0.removingPercentEncoding ?? $0 }
        if call.request.method == "GET", named == nil || listsAll { return list(call, of: bundle, for: sender.source) }
        let known = try APNsChannels.id(named)
        let isRemoval = call.request.method == "DELETE"
        return body(of: call, from: sender.source, upTo: Self.largestChannel) {
            _ async throws(APNsReason) -> ProviderReply in
            if isRemoval {
                try await channels.remove(known, of: bundle, for: source)
                return reply.success(204)
            }
            let channel = try await channels.channel(known, of: bundle, for: source)
            return reply.success(
                json: .jsonObject { json in
                    json.member("message-storage-policy", channel.storesLast ? 1 : 0)
                    json.member("push-type", "LiveActivity")
                })
        }
    }

    /// The identifiers of all channels of an app. The body of the answer is `{"channels": [ID, …]}`.
    private func list(_ call: APNsCall, of bundle: String, for source: SourceName) -> ProviderBody {
        let (channels, reply) = (self.channels, call.reply)
        return body(of: call, from: source, upTo: Self.largestChannel) {
            _ async throws(APNsReason) -> ProviderReply in
            let ids = try await channels.list(of: bundle, for: source)
            return reply.success(json: .json { json in json.object { $0.member("channels", ids) } })
        }
    }

    // MARK: Parts

    /// Throws ``APNsReason/badTopic`` for a path whose app is not a topic by ``TopicRule``, and
    /// ``APNsReason/topicMismatch`` for an app that is not one of the sender's.
    private func check(_ bundle: String, of sender: APNsSender) throws(APNsReason) {
        guard TopicRule.allows(bundle) else { throw .badTopic }
        guard access.senders.allows(bundle, for: sender.source) else { throw .topicMismatch }
    }

    /// A body that a task handles. A reason that `handle` throws becomes the answer, with the identifier of the
    /// request.
    private func body(
        of call: APNsCall, from source: SourceName, upTo limit: Int,
        handle: @escaping @Sendable ([UInt8]) async throws(APNsReason) -> ProviderReply
    ) -> ProviderBody {
        let reply = call.reply
        return ProviderBody(
            limit: limit, refusal: { reply.failure(APNsReason($0)) }, source: source,
            inTask: { body in
                do throws(APNsReason) { return try await handle(body) } catch { return reply.failure(error) }
            })
    }
}
