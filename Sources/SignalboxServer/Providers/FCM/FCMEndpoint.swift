import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Answers as Firebase Cloud Messaging: HTTP v1, the token endpoint of service accounts, topic management, batches, and
/// the legacy protocol. An immutable value of one config.
struct FCMEndpoint: ProviderEndpoint {
    let access: GoogleAccess
    let acceptance: PushAcceptance
    /// Shared by all configs.
    let topics: TopicSubscriptions
    /// Shared by all configs.
    let tokens: GrantedTokens
    /// Shared by all configs.
    let contents: ContentMemory
    /// Rejected credentials; shared by all configs.
    let failures: FailedProofs
    /// Access tokens that Google issued; shared by all configs.
    let proofs: BearerProofs
    /// The clock of tokens and subscriptions.
    var now: @Sendable () -> Date = { Date() }

    /// The most bytes of a request to send, which may contain payloads for each platform.
    static let sendLimit = 64 * 1024
    /// The most bytes of other requests. A multicast of the legacy protocol names 1,000 tokens.
    static let limit = 1024 * 1024

    /// Checks path, method, access, limits and project, in this order, before the body arrives.
    func verdict(on request: ProviderRequest) -> ProviderVerdict? {
        guard let operation = FCMOperation(path: request.path) else { return nil }
        do throws(GoogleError) {
            return try verdict(on: request, operation)
        } catch {
            return .reply(error.reply(as: operation.errorForm))
        }
    }

    func service(of path: String) -> ProviderService? { FCMOperation(path: path)?.service }

    /// The checks that all operations share. Throws 503 for a request that a source with forwarded pushes must send to
    /// Google.
    private func verdict(on request: ProviderRequest, _ operation: FCMOperation) throws(GoogleError) -> ProviderVerdict
    {
        guard operation != .unknown else { throw .noSuchMethod }
        guard operation.methods.contains(request.method) else {
            throw .methodNotAllowed(request.method, allow: operation.methods.joined(separator: ", "))
        }
        // The assertion in the body identifies the client.
        guard operation != .token else { return try tokenVerdict(on: request) }
        if let project = operation.project, let source = sourceToAsk(request, project) {
            return try verdict(on: request, operation, askingFor: source, project)
        }
        let source = try source(of: request)
        if !operation.isForwarded, acceptance.forwarding?.refusesOthers(of: source) == true { throw .notForwarded }
        switch acceptance.admission.admit(source, request) {
        case .refused(let excess): throw .exhausted(excess)
        case .admitted(let permit):
            let verdict = try verdict(on: request, operation, from: source)
            guard case .body(var reading) = verdict else { return verdict }
            reading.permit = permit
            return .body(reading)
        }
    }

    /// `source`: of the request.
    private func verdict(
        on request: ProviderRequest, _ operation: FCMOperation, from source: SourceName
    ) throws(GoogleError) -> ProviderVerdict {
        switch operation {
        case .send(let project):
            try access.check(project, of: source)
            return body(of: request, operation, source, limit: Self.sendLimit) { body, reply in
                send(body, to: project, from: source, of: request, reply)
            }
        case .batch:
            let boundary = try MultipartBatch.boundary(request.header("content-type"))
            return body(of: request, operation, source, limit: MultipartBatch.limit) { body, reply in
                sendBatch(body, boundary, from: source, of: request, reply)
            }
        case .legacySend:
            let isForm = request.header("content-type")?.lowercased().hasPrefix("application/json") != true
            return body(of: request, operation, source) { body, reply in
                sendLegacy(body, isForm: isForm, from: source, of: request, reply)
            }
        case .subscriptions(let project, let registration), .subscription(let project, let registration, _):
            try access.check(project, of: source)
            return manage(registration, of: project, from: source, operation, request)
        case .batchAdd, .batchRemove:
            return body(of: request, operation, source) { body, reply in
                reply(changeTopics(body, isAdding: operation == .batchAdd, from: source))
            }
        case .relation(let registration, let topic): return relate(registration, to: topic, from: source, request)
        case .info(let registration): return .reply(info(on: registration, from: source, request))
        case .token, .unknown: throw .noSuchMethod
        }
    }

    /// The source of a request. Records a rejected credential.
    private func source(of request: ProviderRequest) throws(GoogleError) -> SourceName {
        do throws(GoogleError) {
            let source = try access.source(of: request, at: now())
            request.mark.identify(source)
            return source
        } catch {
            var refusal = error
            refusal.delay = failures.record(.fcm(error.status), from: request.connection)
            throw refusal
        }
    }

    /// Collects a body, which may be compressed by gzip. Opens and handles a body beyond ``sendLimit`` in a task: a
    /// batch, a multicast or a list of registrations would hold up the event loop. Replies 503 for a content that
    /// exceeds the memory, and 400 for a damaged one.
    func body(
        of request: ProviderRequest, _ operation: FCMOperation, _ source: SourceName?, limit: Int = limit,
        _ handle: @escaping ProviderBody.Handler
    ) -> ProviderVerdict {
        let form = operation.errorForm
        let refusal: @Sendable (ProviderBody.Refusal) -> ProviderReply = { reason in
            (reason == .tooLarge ? GoogleError.bodyTooLarge(limit: limit) : .unavailable).reply(as: form)
        }
        let coding = ContentCoding(request)
        let holder = BodyHolder(source: source, peer: request.connection.peer)
        return .body(
            ProviderBody(limit: limit, refusal: refusal, source: source) { [contents] body, reply in
                let handleContent: @Sendable () -> Void = {
                    do throws(ContentCoding.Failure) {
                        let content = try coding.decode(body, upTo: limit, in: contents, for: holder)
                        handle(content.bytes) { answer in withExtendedLifetime(content) { reply(answer) } }
                    } catch {
                        let answer = error == .busy ? GoogleError.unavailable : .encodingInvalid(limit: limit)
                        reply(answer.reply(as: form))
                    }
                }
                // Unstructured, because the caller is an event loop. Always replies.
                if limit > Self.sendLimit { Task { handleContent() } } else { handleContent() }
            })
    }
}

extension FCMEndpoint {
    /// Includes requests for a token, because a sender without one sends no push.
    func refusedPush(of request: ProviderRequest) -> RefusedPush? {
        switch FCMOperation(path: request.path) {
        case .send(let project): RefusedPush(service: .fcm, project: project)
        case .batch, .legacySend, .token: RefusedPush(service: .fcm)
        default: nil
        }
    }
}

extension FCMEndpoint {
    func invalidRun(_ request: ProviderRequest) -> ProviderReply {
        let error = GoogleError(status: .invalidArgument, message: ProviderRequest.invalidRun)
        return error.reply(as: FCMOperation(path: request.path)?.errorForm ?? .status)
    }
}

// MARK: HTTP v1

extension FCMEndpoint {
    /// `POST /v1/projects/{project}/messages:send`. Replies once, on any thread. A message that is only checked makes
    /// no event.
    func send(
        _ body: [UInt8], to project: String, from source: SourceName, of request: ProviderRequest,
        _ reply: @escaping @Sendable (ProviderReply) -> Void
    ) {
        let message: FCMMessage
        do throws(GoogleError) {
            message = try FCMParser.check(body, isForwarded: acceptance.forwarding?.forwardsAll(of: source) == true)
        } catch {
            return reply(error.reply)
        }
        let push = Self.push(of: message, body, to: project, from: source)
        guard !message.isDryRun else { return check(push, to: project, of: request, reply) }
        acceptance.accept([push], of: request, reply) { answers in Self.reply(to: answers.first, in: project) }
    }

    /// A message that is only checked. If its source forwards it, Google checks it too.
    private func check(
        _ push: ProviderPush, to project: String, of request: ProviderRequest,
        _ reply: @escaping @Sendable (ProviderReply) -> Void
    ) {
        let answer: @Sendable (ProviderReply) -> Void = { [captures = acceptance.captures] response in
            captures?.record(dryRuns: [push], response, of: request)
            reply(response)
        }
        guard let forwarding = acceptance.forwarding else { return answer(Self.sent(Self.dryRunID, to: project)) }
        switch forwarding.plan(for: [push], of: request) {
        case .capture: answer(Self.sent(Self.dryRunID, to: project))
        case .refuse(let reason):
            forwarding.recordRefusal(reason, of: [push])
            answer(GoogleError.unavailable.reply)
        case .forward(let forwarded):
            forwarding.check(forwarded("")) { verdict in
                answer(verdict.map { GoogleError.answer($0) } ?? GoogleError.unavailable.reply)
            }
        }
    }

    /// `body`: of the message.
    static func push(
        of message: FCMMessage, _ body: [UInt8], to project: String, from source: SourceName
    ) -> ProviderPush {
        var push = ProviderPush(body: body, source: source, platform: .fcm)
        push.project = project
        if message.hasUnknownNames {
            push.warnings.append(
                Warning(
                    "fcm.name-unknown", at: "",
                    "The gateway does not know a name in the message; Google decides on it."))
        }
        switch message.target {
        case .device(let token): push.token = token
        case .topic(let name): push.topic = name
        case .condition(let text): push.condition = text
        }
        return push
    }

    /// The id of a message that was only checked (recorded: bloomberg.github.io/pushiko/fcm_responses).
    static let dryRunID = "fake_message_id"

    /// The reply to one message: its name ends with the id of its event.
    static func reply(to answer: PushAnswer?, in project: String) -> ProviderReply {
        switch answer {
        case .accepted(let event), .repeated(let event): sent(event, to: project)
        // The payload passed Google's checks, and exceeds a limit of the gateway.
        case .rejected(let rejection): GoogleError(status: .invalidArgument, message: rejection.message).reply
        case .limited: GoogleError.exhausted().reply
        case .injected(let failure): GoogleError(failure).reply
        case .verdict(let verdict): GoogleError.answer(verdict)
        case .unavailable, nil: GoogleError.unavailable.reply
        }
    }

    /// 200 with the resource name of the message, which client libraries return to their callers.
    static func sent(_ id: String, to project: String) -> ProviderReply {
        .json { $0.member("name", "projects/\(project)/messages/\(id)") }
    }
}

/// Checks messages with a parser that is used again.
enum FCMParser {
    static let parsers = ParserPool.forPayloads()

    /// `isForwarded`: Google decides on the message.
    static func check(_ body: [UInt8], isForwarded: Bool = false) throws(GoogleError) -> FCMMessage {
        try parsers.withParser { (parser) throws(GoogleError) in
            try FCMMessage(body, with: parser, isForwarded: isForwarded)
        }
    }
}
