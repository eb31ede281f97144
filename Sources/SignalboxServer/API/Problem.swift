import HTTPTypes
import Hummingbird
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// An error as HTTP clients see it: `application/problem+json` (RFC 9457) with a stable `code`. Its texts and
/// status codes are declared in extensions of this type. Details name the remedy. They never contain a token, and
/// payload text only as far as a rejection quotes it.
struct Problem: Error, Equatable {
    /// The status of the response; in a batch, of the item.
    let status: HTTPResponse.Status
    /// Stable across versions; docs/reference/errors.md lists all codes.
    let code: String
    /// The same for all problems of a kind.
    let title: String
    /// The problem of this request and its remedy.
    let detail: String
    /// In addition to the content type, such as `retry-after`.
    let headers: HTTPFields
    /// Further members of the object (RFC 9457, 3.2), in their order; the reference page names them.
    var members: [Member] = []
    /// The line of a refused payload in its body, from 1. For the log of refusals; the detail names it to the client.
    var line: Int?

    /// A member of one kind of problem. The value is always a JSON string.
    struct Member: Equatable {
        /// Not one of the members that every problem has.
        let name: String
        /// Escaped as JSON when it is written.
        let value: String
    }

    /// `title`: a phrase without a full stop. `detail`: one or more sentences. `pointer`: the member with the location
    /// of the mistake.
    init(
        _ status: HTTPResponse.Status, _ code: String, title: String = "The request was not accepted",
        _ detail: String, headers: HTTPFields = [:], pointer: String? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.headers = headers
        members = pointer.map { [Member(name: "pointer", value: $0)] } ?? []
    }

    /// The same problem with the members `line` and `column`, which are strings; without a position, unchanged.
    func with(_ position: TextPosition?) -> Problem {
        var problem = self
        if let position {
            problem.members += [
                Member(name: "line", value: String(position.line)),
                Member(name: "column", value: String(position.column)),
            ]
        }
        return problem
    }

    /// Writes the whole object, for a response or for an item of a batch. `more`: writes further members that are not
    /// strings.
    func write(into json: inout JSONWriter, _ more: (inout JSONWriter) -> Void = { _ in }) {
        json.object { json in
            json.member("type", "urn:signalbox:problem:\(code)")
            json.member("status", status.code)
            json.member("code", code)
            json.member("title", title)
            json.member("detail", detail)
            for member in members {
                json.key(member.name)
                json.string(member.value)
            }
            more(&json)
        }
    }
}

/// Problems as replies, which direct requests and rejected connections send without Hummingbird.
extension Reply {
    /// The body is the problem's object. Has no `retry-after` unless the problem sets it.
    init(_ problem: Problem) {
        self.init(
            status: problem.status, headers: problem.headers, contentType: "application/problem+json",
            body: .json { problem.write(into: &$0) })
    }
}

// MARK: Endpoints

/// About path, method, access and query of a request, and failures of the gateway itself.
extension Problem {
    /// The log has the error. ``ProblemMiddleware`` sends it.
    static let unexpected = Problem(
        .internalServerError, "internal-error", title: "The gateway failed",
        "This is a bug of the gateway; see its log. No event was accepted.")
    /// Does not distinguish a missing token from a wrong one.
    static let unauthorized = Problem(
        .unauthorized, "unauthorized", "Send the token of the source: authorization: Bearer TOKEN.",
        headers: [.wwwAuthenticate: "Bearer"])
    /// For a missing or wrong token, and for the token of a source.
    static let adminUnauthorized = Problem(
        .unauthorized, "unauthorized",
        "An admin token is required, one of admin.auth or admin.tokens; source tokens are not accepted here. "
            + "Send it as authorization: Bearer TOKEN.", headers: [.wwwAuthenticate: "Bearer"])
    /// Without admin tokens, only an open gateway on loopback has operator endpoints.
    static let adminClosed = Problem(
        .forbidden, "admin-closed",
        "The config has no admin token, and the gateway is open to other machines or requires source tokens. Add "
            + "\"admin\": {\"auth\": {\"bearer\": [\"env:ADMIN_TOKEN\"]}} to the config.")
    /// The token is valid. `role`: the least one that the endpoint accepts.
    static func roleInsufficient(_ role: OperatorRole, of actor: Operator) -> Problem {
        Problem(
            .forbidden, "role-insufficient",
            "This needs the role \(role.rawValue), and the token of \"\(actor.name)\" has the role "
                + "\(actor.role.rawValue): use another token. No change was made.")
    }
    /// The token has `"content": false`.
    static let contentHidden = Problem(
        .forbidden, "content-hidden",
        "The token may not read the content of notifications, and this request would reveal it: use another token.")
    /// Too many requests compute over payloads. The client repeats it later.
    static let readsBusy = Problem(
        .serviceUnavailable, "reads-busy", title: "The request was not answered",
        "Other requests that compute over payloads are in progress: send it again later.",
        headers: [.retryAfter: "1"])
    /// Protects an open gateway from pages in a browser on the same machine (DNS rebinding).
    static let foreignPage = Problem(
        .forbidden, "not-from-this-machine",
        "Without sources in its config, the gateway accepts only requests that name localhost or a loopback address, "
            + "and none from pages of other sites. Configure sources with tokens, or use http://127.0.0.1.")

    /// Behind a proxy all requests seem to come from this machine.
    static let forwardedOpen = Problem(
        .forbidden, "forwarded-without-sources",
        "A proxy forwarded this request, and the config has no sources, so every client of the proxy would have access. "
            + "Add \"sources\" with tokens to the config, and \"admin\" with a token for operators; or send requests "
            + "to the gateway directly.")

    /// The token is valid.
    static func sourceForbidden(_ source: SourceName, _ right: SourceRight) -> Problem {
        Problem(
            .forbidden, "source-forbidden",
            "The source \"\(source.name)\" may not do this: its option \"may\" does not have \"\(right.rawValue)\". "
                + "Use the token of another source, or add the right.")
    }

    /// For requests of browsers and for the console, with tokens and without (DNS rebinding).
    static let foreignHost = Problem(
        .forbidden, "host-foreign",
        "Browsers reach the gateway by a loopback address or by the host of gateway.publicUrl, and the request names "
            + "another host. Set gateway.publicUrl to the address that operators open.")
    /// For changes that a page of another site made a browser send.
    static let foreignChange = Problem(
        .forbidden, "origin-foreign",
        "A browser's change must come from the gateway's own page, with content-type: application/json. No change was "
            + "made.")
    /// Problems of requests that a page of another site may have caused.
    static let foreignCodes = Set([foreignPage, foreignHost, foreignChange].map(\.code))

    /// `path`: as the client sent it, without the query. Shows at most 200 characters of it, and suggests the nearest
    /// path without parameters.
    static func notFound(_ path: String) -> Problem {
        let known = Endpoint.all.map(\.path).filter { !$0.contains("{") }
        let hint = Spelling.nearest(to: path, among: known).map { "; did you mean \($0)?" } ?? "."
        return Problem(.notFound, "not-found", title: "Not found", "No such endpoint: \(path.prefix(200))\(hint)")
    }

    /// `allow`: the methods of the path (RFC 9110, 15.5.6).
    static func methodNotAllowed(_ request: Request, allow: String) -> Problem {
        Problem(
            .methodNotAllowed, "method-not-allowed",
            "\(request.method) is not supported on \(request.uri.path); use \(allow).", headers: [.allow: allow])
    }

    /// Shows at most 100 characters of the name, and suggests the nearest known one.
    static func unknownParameter(_ name: String, known: [String]) -> Problem {
        let name = String(name.prefix(100))
        let hint =
            if let near = Spelling.nearest(to: name, among: known) { "did you mean \(near)?" } else {
                known.isEmpty ? "this endpoint has none." : "known: \(known.joined(separator: ", "))."
            }
        return Problem(
            .badRequest, "parameter-unknown", "Unknown query parameter \"\(name)\"; \(hint) No change was made.")
    }

    /// Readers of the query would use only one of the values.
    static func repeatedParameter(_ name: String) -> Problem {
        Problem(
            .badRequest, "parameter-repeated",
            "The query parameter \(name) occurs more than once: send it once. No change was made.")
    }

    /// For a known parameter with an invalid value.
    static func badQuery(_ detail: String) -> Problem {
        Problem(.badRequest, "query-malformed", title: "The request was not understood", detail)
    }
}

// MARK: Payloads and the queue

extension Problem {
    /// The title of rejected payloads.
    static let noPayload = "The payload was not accepted"
    /// The title of failures that concern the whole request.
    static let noEvent = "No event was accepted"

    /// A batch without payloads is not an error. For a body without bytes, or with whitespace only.
    static let empty = Problem(
        .badRequest, Rejection.Code.empty.rawValue, title: noPayload,
        "The request has no body: send one payload, a JSON array of payloads, or NDJSON.")
    /// The key is not repeated, because it may be long.
    static let badIdempotencyKey = Problem(
        .badRequest, "idempotency-key-malformed",
        "An idempotency-key must have 1 to 255 printable ASCII characters and no spaces, for example a UUID.")

    /// 413 for too large payloads, 422 for too costly ones, otherwise 400. `title`: the title of the kind of request.
    /// The detail is the rejection's message, with its position in the body.
    init(_ rejection: Rejection, title: String = noPayload) {
        let status: HTTPResponse.Status =
            switch rejection.code {
            case .tooLarge: .contentTooLarge
            case .tooCostly: .unprocessableContent
            default: .badRequest
            }
        self.init(status, rejection.code.rawValue, title: title, rejection.message)
        line = rejection.place.line
    }

    /// Failures of the queue have the status 503 and `retry-after`. Their code is `queue-timeout` if the events may be
    /// stored nevertheless, otherwise `queue-unavailable`. A batch beyond a limit is 413. A key that an earlier request
    /// used with another body is 422.
    init(_ failure: Intake.Failure) {
        switch failure {
        case .tooManyPayloads: self = .batchTooLarge("A batch can have at most \(Intake.batchLimit) payloads")
        case .tooManyDeliveries:
            let most = StoreLimits.deliveriesOfRequest
            self = .batchTooLarge("The events of a batch can have at most \(most) deliveries together")
        case .tooManyInteractions:
            self = .batchTooLarge("A batch can have at most \(InteractionIntake.batchLimit) interactions")
        case .interactionsTooLarge:
            self = .batchTooLarge(
                "The events of one request have at most \(InteractionIntake.bytesLimit) bytes, with snoozed notifications"
            )
        case .keyReused:
            self.init(
                .unprocessableContent, "idempotency-key-reused",
                "An earlier request used this idempotency-key with another body: use a new key for a new request.")
        // The request's events may be in the queue, or may still be written to it.
        case .store(.undecided(let time)):
            self = .queue(
                "queue-timeout", title: "The outcome is not known",
                "\(StoreError.undecided(after: time)) The events may have been accepted. "
                    + "Send the request again later: with an idempotency-key or dedupe, nothing is accepted twice.")
        case .store(let error):
            self = .queue(
                "queue-unavailable", title: Self.noEvent, "\(Self.description(of: error)) Send it again later.")
        }
    }

    /// Describes an error to operators. For endpoints of operators: the sentence may name the path of the queue and a
    /// command.
    static func store(_ error: StoreError) -> Problem {
        let isUndecided = if case .undecided = error { true } else { false }
        return queue(
            isUndecided ? "queue-timeout" : "queue-unavailable", title: "The queue did not answer", "\(error)")
    }

    /// Describes an error to senders, without the path of the queue and without advice for operators.
    static func description(of error: StoreError) -> String {
        switch error {
        case .unavailable, .stalled, .undecided: "\(error)"
        // The reason names the database.
        case .unreachable: "The database of the queue cannot be reached."
        case .directory, .inUse, .missing, .lost, .keyWithoutQueue, .otherSchema, .damaged, .refused, .otherTables:
            "The queue cannot be used until an operator intervenes."
        }
    }

    /// `limit`: a clause that names the limit, without a full stop.
    private static func batchTooLarge(_ limit: String) -> Problem {
        Problem(
            .contentTooLarge, "batch-too-large", title: "The batch was not accepted",
            "\(limit): send it in parts. None of it was accepted.")
    }

    /// Clients may send the request again after five seconds.
    private static func queue(_ code: String, title: String, _ detail: String) -> Problem {
        Problem(.serviceUnavailable, code, title: title, detail, headers: [.retryAfter: "5"])
    }
}
