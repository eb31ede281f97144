import HTTPTypes
import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// An error as HTTP clients see it: `application/problem+json` (RFC 9457) with a stable `code`. All words and status
/// codes of the HTTP side are made here.
struct Problem: Error {
    let status: HTTPResponse.Status
    let code: String
    let title: String
    let detail: String
    var headers: HTTPFields = [:]

    /// As the `error` member of a batch item has it.
    func write(into json: inout JSONWriter) {
        json.beginObject()
        json.key("type")
        json.string("urn:signalbox:problem:\(code)")
        json.key("status")
        json.integer(status.code)
        json.key("code")
        json.string(code)
        json.key("title")
        json.string(title)
        json.key("detail")
        json.string(detail)
        json.endObject()
    }

    /// The body of an error response.
    var body: [UInt8] {
        var json = JSONWriter()
        write(into: &json)
        return json.bytes
    }

    /// The headers of an error response.
    var responseHeaders: HTTPFields {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        return headers
    }

    var response: Response {
        Response(
            status: status, headers: responseHeaders, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension Problem {
    init(_ rejection: Rejection, title: String = "The payload was not accepted") {
        let status: HTTPResponse.Status =
            switch rejection.code {
            case .tooLarge: .contentTooLarge
            case .tooCostly: .unprocessableContent
            default: .badRequest
            }
        self.init(status: status, code: rejection.code.rawValue, title: title, detail: rejection.message)
    }

    init(_ failure: Intake.Failure) {
        switch failure {
        case .tooManyPayloads:
            self.init(
                status: .contentTooLarge, code: "batch-too-large", title: "The batch was not accepted",
                detail: "A batch holds at most \(Intake.batchLimit) payloads: send it in parts. None of it was taken.")
        case .tooManyInteractions:
            self.init(
                status: .contentTooLarge, code: "batch-too-large", title: "The batch was not accepted",
                detail:
                    "A batch holds at most \(InteractionIntake.batchLimit) interactions: send it in parts. None of it was taken."
            )
        case .interactionsTooLarge:
            self.init(
                status: .contentTooLarge, code: "batch-too-large", title: "The batch was not accepted",
                detail:
                    "The events of one request hold at most \(InteractionIntake.bytesLimit) bytes, with notifications that come again: send it in parts. None of it was taken."
            )
        case .keyReused:
            self.init(
                status: .unprocessableContent, code: "idempotency-key-reused", title: "The request was not accepted",
                detail: "Its idempotency-key came with another body before: use a new key for a new request.")
        case .store(.undecided(let time)): self = .undecided(after: time)
        case .store(let error):
            self.init(
                status: .serviceUnavailable, code: "queue-unavailable", title: "Nothing was accepted",
                detail: "\(Self.words(error)) Send it again later.", headers: [.retryAfter: "5"])
        }
    }

    /// What a sender may know: neither where the queue is nor what an operator has to do.
    static func words(_ error: StoreError) -> String {
        switch error {
        case .unavailable, .stalled, .undecided: "\(error)"
        case .directory, .inUse, .missing, .lost, .keyWithoutQueue, .damaged:
            "The queue cannot be used until an operator intervenes."
        }
    }

    /// The commit did not finish in time. The request's events may be in the queue, or may still be written to it.
    static func undecided(after time: Duration) -> Problem {
        Problem(
            status: .serviceUnavailable, code: "queue-timeout", title: "The outcome is not known",
            detail: "\(StoreError.undecided(after: time)) The events may have been accepted. "
                + "Send the request again later: with an idempotency-key or dedupe, nothing is accepted twice.",
            headers: [.retryAfter: "5"])
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            status: .contentTooLarge, code: "body-too-large", title: "The request was not accepted",
            detail: "A request body holds at most \(limit) bytes: send it in parts. None of it was taken.")
    }

    static let badIdempotencyKey = Problem(
        status: .badRequest, code: "idempotency-key-malformed", title: "The request was not accepted",
        detail: "An idempotency-key has 1 to 255 printable ASCII characters and no spaces; a UUID will do.")

    static let unreadableBody = Problem(
        status: .badRequest, code: "body-incomplete", title: "The request was not accepted",
        detail: "The request's body did not arrive in full: send it again.")

    static let slowBody = Problem(
        status: .requestTimeout, code: "body-too-slow", title: "The request was not accepted",
        detail: "The request's body came too slowly: send it again, faster or in parts.")

    static let foreignPage = Problem(
        status: .forbidden, code: "not-from-this-machine", title: "The request was not accepted",
        detail:
            "Without sources in its config this gateway takes requests to localhost or a loopback address only, and "
            + "none from other sites' pages: name sources with tokens, or use http://127.0.0.1.")

    static let encodedBody = Problem(
        status: .unsupportedMediaType, code: "content-encoding-unsupported", title: "The request was not accepted",
        detail: "Request bodies are taken as they are: leave content-encoding out.")

    static let busy = Problem(
        status: .serviceUnavailable, code: "gateway-busy", title: "Nothing was accepted",
        detail: "The gateway holds as many request bodies as it may: send it again in a moment.",
        headers: [.retryAfter: "1"])

    static let empty = Problem(
        status: .badRequest, code: Rejection.Code.empty.rawValue, title: "The payload was not accepted",
        detail: "The request has no body: send one payload, a JSON array of payloads, or NDJSON.")

    static let unauthorized = Problem(
        status: .unauthorized, code: "unauthorized", title: "The request was not accepted",
        detail: "Send the source's token: authorization: Bearer TOKEN.", headers: [.wwwAuthenticate: "Bearer"])

    static let adminUnauthorized = Problem(
        status: .unauthorized, code: "unauthorized", title: "The request was not accepted",
        detail: "Send a token of admin.auth.bearer: authorization: Bearer TOKEN. A source's token is none.",
        headers: [.wwwAuthenticate: "Bearer"])

    static let adminClosed = Problem(
        status: .forbidden, code: "admin-closed", title: "The request was not accepted",
        detail:
            "This gateway takes payloads from sources with tokens, or from other machines, and names no admin token: add "
            + "\"admin\": {\"auth\": {\"bearer\": [\"env:ADMIN_TOKEN\"]}} to it.")

    static func store(_ error: StoreError) -> Problem {
        let isUndecided = if case .undecided = error { true } else { false }
        return Problem(
            status: .serviceUnavailable, code: isUndecided ? "queue-timeout" : "queue-unavailable",
            title: "The queue did not answer", detail: "\(error)", headers: [.retryAfter: "5"])
    }

    init(_ refusal: HeadRefusal) {
        let (status, code, detail): (HTTPResponse.Status, String, String) =
            switch refusal {
            case .hostMissing:
                (.badRequest, "host-invalid", "The request has no Host field: HTTP/1.1 requires exactly one.")
            case .hostRepeated:
                (.badRequest, "host-invalid", "The request has several Host fields: send exactly one.")
            case .hostInvalid:
                (.badRequest, "host-invalid", "The Host field is not a host name or address with an optional port.")
            case .targetInvalid:
                (.badRequest, "target-invalid", "The request target is neither a path nor an http or https URL.")
            case .framingAmbiguous:
                (
                    .badRequest, "framing-ambiguous",
                    "Transfer-Encoding requires HTTP/1.1 and excludes Content-Length: send only one of them."
                )
            case .transferCodingUnsupported:
                (
                    .notImplemented, "transfer-coding-unsupported",
                    "The only supported Transfer-Encoding is chunked: send the body as it is."
                )
            case .expectationUnsupported:
                (
                    .expectationFailed, "expectation-unsupported",
                    "The only supported Expect is 100-continue: leave the field out."
                )
            }
        self.init(status: status, code: code, title: "The request was not accepted", detail: detail)
    }

    static func unknownParameter(_ name: String, known: [String]) -> Problem {
        let name = String(name.prefix(100))
        let hint =
            if let near = Spelling.nearest(to: name, among: known) { "did you mean \(near)?" } else {
                known.isEmpty ? "this address has none." : "known here: \(known.joined(separator: ", "))."
            }
        return Problem(
            status: .badRequest, code: "parameter-unknown", title: "The request was not accepted",
            detail: "Unknown query parameter \"\(name)\"; \(hint) Nothing was done.")
    }

    static func repeatedParameter(_ name: String) -> Problem {
        Problem(
            status: .badRequest, code: "parameter-repeated", title: "The request was not accepted",
            detail: "The query parameter \(name) occurs more than once: send it once. Nothing was done.")
    }

    static let unexpectedBody = Problem(
        status: .badRequest, code: "body-unexpected", title: "The request was not accepted",
        detail: "This request has no body: put its parameters into the query. Nothing was done.")

    static func badQuery(_ detail: String) -> Problem {
        Problem(status: .badRequest, code: "query-malformed", title: "The request was not understood", detail: detail)
    }

    static func noDelivery(_ id: String) -> Problem {
        Problem(
            status: .notFound, code: "delivery-not-found", title: "There is no such delivery",
            detail: "There is no delivery \(id): GET /v1/deliveries lists those that there are.")
    }

    static func noDestination(_ name: String) -> Problem {
        Problem(
            status: .notFound, code: "destination-not-found", title: "There is no such destination",
            detail: "The config has no destination \(name): GET /v1/destinations lists those that there are.")
    }

    static func noCategory(_ identifier: String) -> Problem {
        Problem(
            status: .notFound, code: "category-not-found", title: "There is no such category",
            detail: "Nothing is known of a category \(identifier): GET /v1/categories lists those that there are.")
    }

    static func notRetried(_ id: String) -> Problem {
        Problem(
            status: .conflict, code: "delivery-ended", title: "Nothing was changed",
            detail: "Delivery \(id) was delivered or has expired: only dead and waiting ones can be tried again.")
    }

    static let noMedia = Problem(
        status: .notFound, code: "media-not-found", title: "There is no such file",
        detail: "A file's name is the SHA-256 of what it holds, 64 lower-case hexadecimal digits; events tell it.")

    static let otherMedia = Problem(
        status: .preconditionFailed, code: "media-not-matched", title: "This is another file",
        detail: "The file's etag is its name in quotes, and if-match does not have it.")

    static let unsignedLink = Problem(
        status: .forbidden, code: "media-link-unsigned", title: "The link is not signed",
        detail: "Files are handed out by signed links only: take the href of an event as it stands, with its query.")

    static let wrongLink = Problem(
        status: .forbidden, code: "media-link-wrong", title: "The link is not one of ours",
        detail: "Its signature is not that of this file and this time: take the href of an event as it stands.")

    static let expiredLink = Problem(
        status: .forbidden, code: "media-link-expired", title: "The link has expired",
        detail: "It was good once: replay the event, or ask for it again, to get a new one.")

    static func noSuchRange(of bytes: Int) -> Problem {
        Problem(
            status: .rangeNotSatisfiable, code: "range-not-satisfiable", title: "There is no such part of the file",
            detail: "The file has \(bytes) bytes: ask for some of these, or leave range out.",
            headers: [.contentRange: "bytes */\(bytes)"])
    }

    static func notFound(_ path: String) -> Problem {
        Problem(
            status: .notFound, code: "not-found", title: "There is nothing here",
            detail: "\(path) is no address of this gateway: payloads go to POST /v1/notifications.")
    }

    /// What the HTTP layer itself refuses.
    static func refused(_ status: HTTPResponse.Status) -> Problem {
        Problem(
            status: status, code: "request-refused", title: "The request was not accepted",
            detail: "\(status.reasonPhrase): look at the request's address, headers and body.")
    }

    static func methodNotAllowed(_ method: String, allow: String) -> Problem {
        Problem(
            status: .methodNotAllowed, code: "method-not-allowed", title: "The request was not accepted",
            detail: "\(method) means nothing here: use \(allow).", headers: [.allow: allow])
    }

    static let unexpected = Problem(
        status: .internalServerError, code: "internal-error", title: "The gateway failed",
        detail: "This is a defect of the gateway; its log says more. Nothing was accepted.")
}
