import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Answers as Expo's push service: tickets for messages, and receipts of earlier tickets. An immutable value of one
/// config. Receipts are read from the queue: an accepted message has one as long as its event is stored.
struct ExpoEndpoint: ProviderEndpoint {
    /// Tokens of sources, which are accepted here too; open without sources.
    let sources: SourceAccess
    /// Expo's access tokens.
    let tokens: [(value: SourceName, token: [UInt8])]
    let acceptance: PushAcceptance
    /// Read for receipts; pushes go through ``acceptance``.
    let queue: any IntakeStore
    /// Shared by all configs.
    let contents: ContentMemory
    /// Rejected credentials; shared by all configs.
    let failures: FailedProofs

    /// The most bytes of a body, compressed or not.
    static let limit = 1024 * 1024
    /// The most receipts of a request.
    static let mostReceipts = 1000
    /// The prefix of both operations, as on `exp.host`.
    private static let path = "/--/api/v2/push/"
    private static let parsers = ParserPool.forPayloads()

    /// Checks path, method and access, in this order.
    func verdict(on request: ProviderRequest) -> ProviderVerdict? {
        guard request.path.hasPrefix(Self.path) else { return nil }
        do throws(ExpoError) {
            let operation = request.path.dropFirst(Self.path.count)
            guard ["send", "getReceipts"].contains(operation) else { throw .notFound }
            guard request.method == "POST" else { throw .methodNotAllowed(request.method) }
            let source = try source(of: request)
            request.mark.identify(source)
            let permit: (any Sendable)?
            switch acceptance.admission.admit(source, request) {
            case .admitted(let admitted): permit = admitted
            case .refused(let excess):
                var refusal = ExpoError.tooManyRequests.reply
                if excess == .connections { refusal.after = .close }
                return .reply(refusal)
            }
            return body(of: request, source, permit) { body in
                operation == "send" ? await send(body, from: source, of: request) : await receipts(body, of: source)
            }
        } catch {
            var refusal = error.reply
            if error == .unauthorized { refusal.delay = failures.record(.expo, from: request.connection) }
            return .reply(refusal)
        }
    }

    /// Includes paths without an operation, which ``verdict(on:)`` answers with 404.
    func service(of path: String) -> ProviderService? { path.hasPrefix(Self.path) ? .expo : nil }

    func invalidRun(_ request: ProviderRequest) -> ProviderReply { ExpoError.invalid(ProviderRequest.invalidRun).reply }

    /// The owner of the request's token, which is one of Expo or of a source; ``SourceName/default`` without sources.
    /// Throws 401 for any other token. Throws 403 for a source that may not send notifications, and, without sources,
    /// for a request from elsewhere.
    private func source(of request: ProviderRequest) throws(ExpoError) -> SourceName {
        let credentials = Credentials(request)
        guard !sources.isOpen else {
            guard !credentials.isForwarded else { throw .forwardedOpen }
            let isExpo = ProviderHost.isNamed(by: request.authority, of: [.expo])
            guard request.connection.isLoopback,
                credentials.isFromThisMachine || (isExpo && credentials.origin == nil)
            else { throw .foreignPage }
            return .default
        }
        guard let source = credentials.granted(of: tokens).first ?? sources.owner(of: credentials) else {
            throw .unauthorized
        }
        guard sources.may(source, .notifications) else { throw .sourceForbidden }
        return source
    }

    /// Collects and decompresses a body, and handles it in a task. The content counts for the memory until the reply is
    /// made.
    private func body(
        of request: ProviderRequest, _ source: SourceName, _ permit: (any Sendable)?,
        _ handle: @escaping @Sendable ([UInt8]) async -> ProviderReply
    ) -> ProviderVerdict {
        let refusal: @Sendable (ProviderBody.Refusal) -> ProviderReply = { reason in
            (reason == .tooLarge ? ExpoError.tooLarge(limit: Self.limit) : .unavailable).reply
        }
        let coding = ContentCoding(request)
        let holder = BodyHolder(source: source, peer: request.connection.peer)
        var reading = ProviderBody(
            limit: Self.limit, refusal: refusal, source: source,
            inTask: { body in
                do throws(ContentCoding.Failure) {
                    let content = try coding.decode(body, upTo: Self.limit, in: contents, for: holder)
                    let reply = await handle(content.bytes)
                    return withExtendedLifetime(content) { reply }
                } catch {
                    if coding == .unknown { return ExpoError.codingUnknown.reply }
                    return refusal(error == .busy ? .busy : .tooLarge)
                }
            })
        reading.permit = permit
        return .body(reading)
    }

    /// Requests for receipts bring no push.
    func refusedPush(of request: ProviderRequest) -> RefusedPush? {
        request.path == Self.path + "send" ? RefusedPush(service: .expo) : nil
    }

    // MARK: Sending

    /// One ticket for each recipient. The id of a ticket is the id of its event. Errors of single messages are tickets
    /// of a response of status 200. An error of the whole request stores no push; copies for several recipients that
    /// exceed the memory are answered with 503.
    private func send(_ body: [UInt8], from source: SourceName, of request: ProviderRequest) async -> ProviderReply {
        let read = Self.parsers.withParser { parser in
            Result { () throws(ExpoError) in try ExpoMessages(body, with: parser) }
        }
        let messages: ExpoMessages
        do throws(ExpoError) { messages = try read.get() } catch { return error.reply }
        let holder = BodyHolder(source: source, peer: request.connection.peer)
        guard let memory = contents.reserve(messages.copiedBytes, for: holder) else {
            return ExpoError.unavailable.reply
        }
        acceptance.captures?.refuse(messages.refused, of: request, from: source)
        let tokens = acceptance.store.intake.tokens(ofRequest: messages.all.map { Array($0.token.utf8) })
        let pushes = messages.all.filter { $0.error == nil }.map { message in
            var push = ProviderPush(body: message.payload, source: source, platform: .expo)
            push.token = Array(message.token.utf8)
            push.requestTokens = tokens
            return push
        }
        let reply = await acceptance.accept(pushes, of: request) { [messages] answers in
            Self.reply(to: messages, answers)
        }
        return withExtendedLifetime(memory) { reply }
    }

    /// The response to a request. `answers`: one for each message without an error of its own. A failure of the whole
    /// request replaces the tickets.
    private static func reply(to messages: ExpoMessages, _ answers: [PushAnswer]) -> ProviderReply {
        for answer in answers {
            if case .injected(let failure) = answer, failure.status != 200 { return ExpoError(failure).reply }
        }
        guard !answers.contains(where: \.isUnavailable) else { return ExpoError.unavailable.reply }
        guard answers.isEmpty || !answers.allSatisfy(\.isLimited) else { return ExpoError.tooManyRequests.reply }
        var rest = answers[...]
        let tickets = messages.all.map { message -> (token: String, result: Result<String, ExpoError>) in
            if let error = message.error { return (message.token, .failure(error)) }
            return (message.token, rest.popFirst().map { ticket($0, to: message.token) } ?? .failure(.unavailable))
        }
        return .json { json in
            guard messages.isSingle, let ticket = tickets.first else {
                return json.array("data", of: tickets) { Self.write($1, into: &$0) }
            }
            json.key("data")
            Self.write(ticket, into: &json)
        }
    }

    /// The id of the event, or the error in the words of Expo: Expo's SDK for Ruby finds the recipient in the text of
    /// `DeviceNotRegistered`.
    private static func ticket(_ answer: PushAnswer, to token: String) -> Result<String, ExpoError> {
        switch answer {
        case .accepted(let event), .repeated(let event): .success(event)
        case .rejected(let rejection): .failure(.ofTicket("MessageTooBig", rejection.message))
        case .limited: .failure(.rateExceeded)
        case .injected(let failure) where failure.reason == "DeviceNotRegistered": .failure(.notRegistered(token))
        case .injected(let failure): .failure(ExpoError(failure))
        case .unavailable, .verdict: .failure(.unavailable)
        }
    }

    private static func write(_ ticket: (token: String, result: Result<String, ExpoError>), into json: inout JSONWriter)
    {
        json.object { json in
            switch ticket.result {
            case .success(let id):
                json.member("status", "ok")
                json.member("id", id)
            case .failure(let error): error.writeTicket(ticket.token, into: &json)
            }
        }
    }

    // MARK: Receipts

    /// The receipts of the ids that are events of the source. Others are absent, as receipts that are not ready.
    /// Replies 400 without an array `ids` or with more than ``mostReceipts``, and 503 if the queue fails.
    private func receipts(_ body: [UInt8], of source: SourceName) async -> ProviderReply {
        let ids = Self.parsers.withParser { parser -> [String]? in
            guard let root = try? parser.parse(body), let ids = root["ids"], ids.isArray else { return nil }
            return ids.elements.map { $0.string ?? "" }
        }
        guard let ids else { return ExpoError.invalid("\"ids\" must be an array of receipt ids.").reply }
        guard ids.count <= Self.mostReceipts else {
            return ExpoError(
                status: 400, code: "PUSH_TOO_MANY_RECEIPTS",
                message:
                    "You can request a maximum of \(Self.mostReceipts) receipts per request (received \(ids.count)); "
                    + "divide your requests."
            ).reply
        }
        var known: [String] = []
        do throws(StoreError) {
            for id in Set(ids).sorted() where try await queue.event(id)?.source == source { known.append(id) }
        } catch {
            return ExpoError.unavailable.reply
        }
        return .json { [known] json in
            json.object("data") { json in
                for id in known {
                    json.key(id)
                    json.object { $0.member("status", "ok") }
                }
            }
        }
    }
}

extension ExpoMessages {
    /// The messages with an error of their own.
    fileprivate var refused: [RefusedPart] {
        all.compactMap { message in
            message.error.map { error in
                RefusedPart(
                    push: RefusedPush(service: .expo, token: Array(message.token.utf8)), status: error.status,
                    reason: error.code)
            }
        }
    }
}
