import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

// The legacy HTTP protocol, which Google switched off in 2024.
extension FCMEndpoint {
    /// `POST /fcm/send`. `isForm`: the body is a form, and so is the response; otherwise both are JSON. Replies 200
    /// even if every addressee has an error, 400 with a text for a body that cannot be read, and 503 if the queue or
    /// the memory is exhausted.
    func sendLegacy(
        _ body: [UInt8], isForm: Bool, from source: SourceName, of request: ProviderRequest,
        _ reply: @escaping @Sendable (ProviderReply) -> Void
    ) {
        let payload = isForm ? LegacyMessage.json(of: FormParameters(body)) : body
        let message: LegacyMessage
        do throws(LegacyMessage.Malformed) {
            message = try Self.read(payload)
        } catch {
            return reply(Self.text(400, isForm ? "Error=InvalidParameters" : error.text))
        }
        let holder = BodyHolder(source: source, peer: request.connection.peer)
        guard let memory = contents.reserve(message.copiedBytes, for: holder) else {
            return reply(GoogleError.unavailable.reply(as: .page))
        }
        var checked = message.pushes(payload, from: source)
        let tokens = acceptance.store.intake.tokens(ofRequest: message.tokens)
        for position in checked.indices { checked[position]?.requestTokens = tokens }
        acceptance.captures?.refuse(message.refused, of: request, from: source)
        if message.isDryRun { acceptance.captures?.record(dryRuns: checked.compactMap(\.self), of: request) }
        let pushes = message.isDryRun ? checked.map { _ in nil } : checked
        let answer: @Sendable (ProviderReply) -> Void = { response in
            withExtendedLifetime(memory) { reply(response) }
        }
        acceptance.accept(pushes.compactMap(\.self), of: request, answer) { answers in
            guard !answers.contains(where: \.isUnavailable) else { return GoogleError.unavailable.reply(as: .page) }
            var rest = answers[...]
            let results = zip(message.outcomes, pushes).map { outcome, push in
                push == nil ? outcome : rest.popFirst().map { LegacyResult($0) } ?? .error("Unavailable")
            }
            var response = isForm ? Self.form(results) : Self.json(results, isToGroup: message.addressee == .group)
            response.headers += Self.wait(answers)
            return response
        }
    }

    /// The `retry-after` header with the longest wait that a failure rule requests; empty without one. The protocol
    /// sends it together with `Unavailable` (firebase.google.com, "Legacy HTTP server protocol", error response codes).
    private static func wait(_ answers: [PushAnswer]) -> [ProviderReply.Header] {
        let failures = answers.compactMap { answer -> InjectedFailure? in
            if case .injected(let failure) = answer { failure } else { nil }
        }
        return failures.max { $0.retryAfter ?? 0 < $1.retryAfter ?? 0 }?.headers ?? []
    }

    private static func read(_ body: [UInt8]) throws(LegacyMessage.Malformed) -> LegacyMessage {
        try FCMParser.parsers.withParser { (parser) throws(LegacyMessage.Malformed) in
            try LegacyMessage(body, with: parser)
        }
    }

    /// One result for a topic, otherwise one for each device. `canonical_ids` is always 0, because the gateway replaces
    /// no token.
    private static func json(_ results: [LegacyResult], isToGroup: Bool) -> ProviderReply {
        guard !isToGroup else {
            return .json { json in
                switch results.first {
                case .message(let id)?: json.member("message_id", number(of: id))
                case .error(let word)?: json.member("error", word)
                case nil: break
                }
            }
        }
        let failures = results.count { if case .error = $0 { true } else { false } }
        return .json { json in
            json.member("multicast_id", randomNumber())
            json.member("success", results.count - failures)
            json.member("failure", failures)
            json.member("canonical_ids", 0)
            json.objects("results", of: results) { json, result in
                switch result {
                case .message(let id): json.member("message_id", id)
                case .error(let word): json.member("error", word)
                }
            }
        }
    }

    /// A form has one addressee.
    private static func form(_ results: [LegacyResult]) -> ProviderReply {
        switch results.first {
        case .message(let id)?: text(200, "id=\(id)")
        case .error(let word)?: text(200, "Error=\(word)")
        case nil: text(200, "Error=MissingRegistration")
        }
    }

    private static func text(_ status: Int, _ text: String) -> ProviderReply {
        ProviderReply(
            status: status, headers: [.init(name: "content-type", value: "text/plain; charset=UTF-8")],
            body: Array((text + "\n").utf8))
    }

    /// Messages to topics have numbers: the last 60 bits of the event's id. 0 for a message that was only checked.
    private static func number(of id: String) -> Int64 { Int64(id.filter { $0 != "-" }.suffix(15), radix: 16) ?? 0 }

    /// 56 random bits, so never negative.
    private static func randomNumber() -> Int64 { Int64(hexadecimal(randomBytes(8).prefix(7)), radix: 16) ?? 0 }
}

/// The result of one addressee.
enum LegacyResult: Equatable, Sendable {
    /// The id of the event, or ``FCMEndpoint/dryRunID``.
    case message(String)
    /// A word of the legacy protocol, such as `NotRegistered`.
    case error(String)

    /// A code of a failure rule that the protocol has no word for becomes `InternalServerError`.
    init(_ answer: PushAnswer) {
        switch answer {
        case .accepted(let event), .repeated(let event): self = .message(event)
        case .rejected: self = .error("InvalidParameters")
        case .limited, .unavailable, .verdict: self = .error("Unavailable")
        case .injected(let failure): self = .error(Self.words[failure.reason] ?? "InternalServerError")
        }
    }

    /// The words of the legacy protocol for the error codes of HTTP v1.
    private static let words = [
        "INVALID_ARGUMENT": "InvalidRegistration", "UNREGISTERED": "NotRegistered",
        "SENDER_ID_MISMATCH": "MismatchSenderId", "QUOTA_EXCEEDED": "DeviceMessageRateExceeded",
        "THIRD_PARTY_AUTH_ERROR": "InvalidApnsCredential", "UNAVAILABLE": "Unavailable",
        "INTERNAL": "InternalServerError",
    ]
}

extension LegacyMessage {
    /// The result of each addressee, unless its payload is accepted or rejected later.
    fileprivate var outcomes: [LegacyResult] {
        let whole = error.map { LegacyResult.error($0) } ?? .message(FCMEndpoint.dryRunID)
        guard case .devices(let devices) = addressee else { return [whole] }
        return devices.map { device in device.error.map { .error($0) } ?? whole }
    }

    /// The pushes with an error of their own, or with that of the message.
    fileprivate var refused: [RefusedPart] {
        guard case .devices(let devices) = addressee else {
            return error.map { [RefusedPart(push: RefusedPush(service: .fcm, topic: topic), status: 200, reason: $0)] }
                ?? []
        }
        return devices.compactMap { device in
            (device.error ?? error).map { word in
                RefusedPart(
                    push: RefusedPush(service: .fcm, token: Array(device.token.utf8)), status: 200, reason: word)
            }
        }
    }

    /// The tokens of all devices as sent, valid or not.
    fileprivate var tokens: [[UInt8]] {
        guard case .devices(let devices) = addressee else { return [] }
        return devices.map { Array($0.token.utf8) }
    }

    /// The push to each addressee; nil for one with an error. A request for one device is accepted as sent.
    fileprivate func pushes(_ request: [UInt8], from source: SourceName) -> [ProviderPush?] {
        guard case .devices(let devices) = addressee else {
            guard error == nil else { return [nil] }
            var push = ProviderPush(body: request, source: source, platform: .fcm)
            push.topic = topic
            push.condition = condition
            return [push]
        }
        return devices.map { device in
            guard error == nil, device.error == nil else { return nil }
            let body = devices.count == 1 ? request : payload(for: device.token)
            var push = ProviderPush(body: body, source: source, platform: .fcm)
            push.token = Array(device.token.utf8)
            return push
        }
    }
}
