import SignalboxJSON

/// An error as Google's APIs word it: the JSON form of `google.rpc.Status` (cloud.google.com/apis/design/errors).
/// Client libraries choose their exception by the `FcmError` of the details, otherwise by the status.
struct GoogleError: Error, Equatable, Sendable {
    /// The codes of `google.rpc.Code` that the endpoints use.
    enum Status: String, Sendable {
        case invalidArgument = "INVALID_ARGUMENT"
        case unauthenticated = "UNAUTHENTICATED"
        case permissionDenied = "PERMISSION_DENIED"
        case notFound = "NOT_FOUND"
        /// Google's front end sends it with 405; the status codes of gRPC have no closer one.
        case unimplemented = "UNIMPLEMENTED"
        case alreadyExists = "ALREADY_EXISTS"
        case resourceExhausted = "RESOURCE_EXHAUSTED"
        /// `INTERNAL` of gRPC.
        case internalError = "INTERNAL"
        case unavailable = "UNAVAILABLE"

        /// The status of the HTTP response, which the body repeats.
        var code: Int {
            switch self {
            case .invalidArgument: 400
            case .unauthenticated: 401
            case .permissionDenied: 403
            case .notFound: 404
            case .unimplemented: 405
            case .alreadyExists: 409
            case .resourceExhausted: 429
            case .internalError: 500
            case .unavailable: 503
            }
        }
    }

    /// A member of `details`, with the `@type` that libraries look for.
    enum Detail: Equatable, Sendable {
        /// `google.firebase.fcm.v1.FcmError`.
        case fcm(String)
        /// `google.rpc.BadRequest`. A violation of the whole request has no field.
        case badRequest([Violation])
        /// `google.rpc.ErrorInfo`.
        case info(reason: String)
    }

    struct Violation: Equatable, Sendable {
        /// The path in the request, such as `message.android.ttl`.
        var field: String?
        var description: String
    }

    let status: Status
    let message: String
    /// Empty if Google sends none with this error.
    var details: [Detail] = []
    /// In addition to the content type.
    var headers: [ProviderReply.Header] = []
    /// The connection closes only for a source with too many connections; see ``exhausted(_:)``.
    var after = ProviderReply.After.keep
    /// How long the response is held; nil to send it at once.
    var delay: Duration?

    /// The response, and one part of a response to a batch.
    var reply: ProviderReply {
        ProviderReply(status: status.code, headers: .json + headers, body: body, after: after, delay: delay)
    }

    private var body: [UInt8] {
        .jsonObject { json in
            json.object("error") { json in
                json.member("code", status.code)
                json.member("message", message)
                json.member("status", status.rawValue)
                guard !details.isEmpty else { return }
                json.array("details", of: details) { json, detail in Self.write(detail, into: &json) }
            }
        }
    }

    private static func write(_ detail: Detail, into json: inout JSONWriter) {
        json.object { json in
            switch detail {
            case .fcm(let code):
                json.member("@type", "type.googleapis.com/google.firebase.fcm.v1.FcmError")
                json.member("errorCode", code)
            case .badRequest(let violations):
                json.member("@type", "type.googleapis.com/google.rpc.BadRequest")
                json.objects("fieldViolations", of: violations) { json, violation in
                    json.member("field", violation.field)
                    json.member("description", violation.description)
                }
            case .info(let reason):
                json.member("@type", "type.googleapis.com/google.rpc.ErrorInfo")
                json.member("reason", reason)
                json.member("domain", "googleapis.com")
                json.object("metadata") { $0.member("service", "fcm.googleapis.com") }
            }
        }
    }
}

extension [ProviderReply.Header] {
    /// As Google's APIs declare it.
    static var json: Self { [.init(name: "content-type", value: "application/json; charset=UTF-8")] }
}

extension ProviderReply {
    /// 200 with a JSON object.
    static func json(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> ProviderReply {
        ProviderReply(status: status, headers: .json, body: .json { $0.object(write) })
    }
}

// MARK: Messages

/// Recorded responses: bloomberg.github.io/pushiko/fcm_responses; github.com/beste/firebase-php/issues/308;
/// github.com/esl/MongoosePush/issues/123; github.com/olucurious/PyFCM/pull/371.
extension GoogleError {
    /// Google does not explain these errors further.
    fileprivate static let general = "Request contains an invalid argument."

    /// A message without a token, topic, condition or installation id.
    static let recipientMissing = invalid("message", "Recipient of the message is not set.")
    /// A token that no app can have.
    static let tokenInvalid = GoogleError(
        status: .invalidArgument, message: general,
        details: [
            .fcm("INVALID_ARGUMENT"),
            .badRequest([Violation(field: "message.token", description: "Invalid registration token")]),
        ])
    /// Google sends no details.
    static let tooLarge = GoogleError(status: .invalidArgument, message: general)

    /// An invalid value of a message whose types are right.
    static func invalid(_ field: String, _ description: String) -> GoogleError {
        GoogleError(
            status: .invalidArgument, message: description,
            details: [.badRequest([Violation(field: field, description: description)]), .fcm("INVALID_ARGUMENT")])
    }

    /// Values of wrong types and unknown fields, all at once. There must be one.
    static func malformed(_ violations: [Violation]) -> GoogleError {
        GoogleError(
            status: .invalidArgument, message: violations.map(\.description).joined(separator: "\n"),
            details: [.badRequest(violations)])
    }

    /// A request body that the endpoint does not collect.
    static func bodyTooLarge(limit: Int) -> GoogleError {
        GoogleError(status: .invalidArgument, message: "Request payload size exceeds the limit: \(limit) bytes.")
    }
}

// MARK: Access and paths

extension GoogleError {
    /// The project of the path belongs to another source, or the source does not list it.
    static let senderIDMismatch = GoogleError(
        status: .permissionDenied, message: "SenderId mismatch", details: [.fcm("SENDER_ID_MISMATCH")])
    /// The request comes from a page of another site, or names a host that an attacker may control (DNS rebinding).
    static let foreignPage = GoogleError(
        status: .permissionDenied,
        message: "Without sources, the gateway accepts requests from this machine only, by a loopback address or the "
            + "name of a push service.")
    /// Without sources, for a request that a proxy sent on.
    static let forwardedOpen = GoogleError(status: .permissionDenied, message: Problem.forwardedOpen.detail)
    /// The token is valid.
    static let sourceForbidden = GoogleError(
        status: .permissionDenied,
        message: "The source of this token may not send notifications: its option \"may\" does not have "
            + "\"notifications\".")
    /// A subscription that does not exist. An unregistered device has the same message, and details in addition.
    static let notFound = GoogleError(status: .notFound, message: "Requested entity was not found.")
    /// A path that no API has, of a request or of a part of a batch.
    static let noSuchMethod = GoogleError(status: .notFound, message: "Method not found.")
    /// The queue cannot accept events, or the memory for bodies is exhausted.
    static let unavailable = GoogleError(
        status: .unavailable, message: "The service is currently unavailable.", details: [.fcm("UNAVAILABLE")],
        headers: [.init(name: "retry-after", value: "5")])

    /// The source exceeds one of its limits: the rate, without an `excess`. A connection too many is closed.
    static func exhausted(_ excess: SourceUsage.Excess? = nil) -> GoogleError {
        GoogleError(
            status: .resourceExhausted, message: "Resource has been exhausted (e.g. check quota).",
            details: [.fcm("QUOTA_EXCEEDED")], headers: [.init(name: "retry-after", value: "1")],
            after: excess == .connections ? .close : .keep)
    }

    /// A failure that a rule makes, with the words that belong to its error code
    /// (firebase.google.com, "REST Resource: ErrorCode").
    init(_ failure: InjectedFailure) {
        let (status, message): (Status, String) =
            switch failure.reason {
            case "INVALID_ARGUMENT": (.invalidArgument, Self.general)
            case "UNREGISTERED": (.notFound, Self.notFound.message)
            case "SENDER_ID_MISMATCH": (.permissionDenied, Self.senderIDMismatch.message)
            case "QUOTA_EXCEEDED": (.resourceExhausted, Self.exhausted().message)
            case "THIRD_PARTY_AUTH_ERROR": (.unauthenticated, "Auth error from APNS or Web Push Service")
            case "UNAVAILABLE": (.unavailable, Self.unavailable.message)
            default: (.internalError, "Internal error encountered.")
            }
        self.init(status: status, message: message, details: [.fcm(failure.reason)], headers: failure.headers)
    }

    /// `allow`: the methods of the path.
    static func methodNotAllowed(_ method: String, allow: String) -> GoogleError {
        GoogleError(
            status: .unimplemented, message: "The method \(method.prefix(20)) is not supported; use \(allow).",
            headers: [.init(name: "allow", value: allow)])
    }

    /// The reasons that Google gives for 401. Does not tell which tokens exist: the reason depends on the form of a
    /// token only.
    enum Unauthenticated: String {
        /// The request has no `authorization`.
        case missing = "CREDENTIALS_MISSING"
        /// Clients request another token and repeat the request.
        case expired = "ACCESS_TOKEN_EXPIRED"
        /// Any token in another form than the gateway's own, and an unknown server key.
        case unsupported = "ACCESS_TOKEN_TYPE_UNSUPPORTED"
    }

    /// 401 with a challenge (RFC 9110, 11.6.1).
    static func unauthenticated(_ reason: Unauthenticated) -> GoogleError {
        let start =
            reason == .missing
            ? "Request is missing required authentication credential. "
            : "Request had invalid authentication credentials. "
        let challenge = "Bearer realm=\"https://accounts.google.com/\""
        return GoogleError(
            status: .unauthenticated,
            message: start + "Expected OAuth 2 access token, login cookie or other valid authentication credential. "
                + "See https://developers.google.com/identity/sign-in/web/devconsole-project.",
            details: [.info(reason: reason.rawValue)],
            headers: [
                .init(
                    name: "www-authenticate",
                    value: reason == .missing ? challenge : challenge + ", error=\"invalid_token\"")
            ])
    }
}
