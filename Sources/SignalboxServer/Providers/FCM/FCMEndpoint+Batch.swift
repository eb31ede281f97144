import SignalboxEgress
import SignalboxGateway
import SignalboxNotification

// Batches of requests to send. A batch is accepted or fails as a whole; its parts have results of their own.
extension FCMEndpoint {
    /// The result of one part before the batch is stored.
    private enum Step: Sendable {
        /// The part has an error, which is its reply in the response.
        case answered(ProviderReply)
        /// The push to accept, and its project.
        case send(ProviderPush, project: String)
        /// Only checked, in this project.
        case dryRun(ProviderPush, project: String)
    }

    /// `POST /batch`. The credential of the batch counts for its parts. Replies 200 even if every part fails, 400 for a
    /// body that is not a batch, and 503 if the queue fails.
    func sendBatch(
        _ body: [UInt8], _ boundary: String, from source: SourceName, of request: ProviderRequest,
        _ reply: @escaping @Sendable (ProviderReply) -> Void
    ) {
        let batch: MultipartBatch
        do throws(GoogleError) {
            batch = try MultipartBatch(body, boundary: boundary)
        } catch {
            return reply(error.reply)
        }
        let steps = batch.parts.map { step($0, from: source) }
        let pushes = steps.compactMap { step in
            if case .send(let push, _) = step { push } else { nil }
        }
        let refused = steps.compactMap { step -> RefusedPart? in
            guard case .answered(let reply) = step, reply.status >= 400 else { return nil }
            return RefusedPart(push: RefusedPush(service: .fcm), status: reply.status, reason: reply.reason)
        }
        acceptance.captures?.refuse(refused, of: request, from: source)
        let dryRuns = steps.compactMap { step in
            if case .dryRun(let push, _) = step { push } else { nil }
        }
        acceptance.captures?.record(dryRuns: dryRuns, of: request)
        acceptance.accept(pushes, of: request, reply) { answers in
            guard !answers.contains(where: \.isUnavailable) else { return GoogleError.unavailable.reply }
            var rest = answers[...]
            let replies = steps.map { step in
                switch step {
                case .answered(let reply): reply
                case .dryRun(_, let project): Self.sent(Self.dryRunID, to: project)
                case .send(_, let project): Self.reply(to: rest.popFirst(), in: project)
                }
            }
            return Self.response(zip(batch.parts.map { $0?.id ?? "" }, replies).map { ($0, $1) })
        }
    }

    /// Checks a part as a request of its own, without a credential. Nil, a part that is not a request, is an error.
    private func step(_ part: MultipartBatch.Part?, from source: SourceName) -> Step {
        do throws(GoogleError) {
            guard let part else {
                throw GoogleError(status: .invalidArgument, message: "The part is not an HTTP request.")
            }
            guard case .send(let project) = FCMOperation(path: part.path) else { throw .noSuchMethod }
            guard part.method == "POST" else { throw .methodNotAllowed(part.method, allow: "POST") }
            try access.check(project, of: source)
            let message = try FCMParser.check(part.body)
            let push = Self.push(of: message, part.body, to: project, from: source)
            return message.isDryRun ? .dryRun(push, project: project) : .send(push, project: project)
        } catch {
            return .answered(error.reply)
        }
    }

    /// A part for each reply. Clients match them by `content-id`. The boundary is random, so no reply contains it.
    private static func response(_ replies: [(id: String, reply: ProviderReply)]) -> ProviderReply {
        let boundary = "batch_\(hexadecimal(randomBytes(16)))"
        var body: [UInt8] = []
        for (id, reply) in replies {
            var head = "--\(boundary)\r\nContent-Type: application/http\r\n"
            if !id.isEmpty { head += "Content-ID: \(responseID(id))\r\n" }
            head += "\r\nHTTP/1.1 \(reply.status) \(phrases[reply.status] ?? "Error")\r\n"
            for header in reply.headers { head += "\(header.name): \(header.value)\r\n" }
            body += Array(head.utf8) + Array("\r\n".utf8) + reply.body + Array("\r\n".utf8)
        }
        body += Array("--\(boundary)--\r\n".utf8)
        return ProviderReply(
            status: 200, headers: [.init(name: "content-type", value: "multipart/mixed; boundary=\(boundary)")],
            body: body)
    }

    /// `<a>` is answered by `<response-a>`.
    private static func responseID(_ id: String) -> String {
        id.hasPrefix("<") ? "<response-" + id.dropFirst() : "response-" + id
    }

    /// Statuses of parts; any other has the phrase `Error`.
    private static let phrases = [
        200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
    ]
}
