import SignalboxJSON

/// An error of Expo's push service, of a request or of a ticket.
struct ExpoError: Error, Equatable, Sendable {
    /// The HTTP status of the request; 200 for an error of one ticket.
    let status: Int
    /// Of a request, in capitals: `VALIDATION_ERROR`. Of a ticket, the `error` of its details: `DeviceNotRegistered`.
    let code: String
    let message: String
    /// Whether the same request may succeed later.
    let isTransient: Bool
    /// Seconds, for `retry-after`.
    let retryAfter: Int?

    /// 400 for a request that does not have the form of the API.
    static func invalid(_ message: String) -> ExpoError {
        ExpoError(status: 400, code: "VALIDATION_ERROR", message: message)
    }

    /// An error of one message.
    static func ofTicket(_ code: String, _ message: String) -> ExpoError {
        ExpoError(status: 200, code: code, message: message)
    }

    /// The error of a recipient that is not an Expo push token. Cuts the recipient to 200 characters.
    static func notRegistered(_ token: String) -> ExpoError {
        ofTicket("DeviceNotRegistered", "\"\(token.prefix(200))\" is not a registered push notification recipient")
    }

    /// The source exceeds its limit with this message.
    static let rateExceeded = ofTicket(
        "MessageRateExceeded", "The source sends too many messages; send this one again later.")

    /// Recorded as a failed proof, so its answer may be held.
    static let unauthorized = ExpoError(
        status: 401, code: "UNAUTHORIZED", message: "The bearer token is missing or invalid.")
    /// Without sources: the request is from another machine, or from a page of another site.
    static let foreignPage = ExpoError(status: 403, code: "FORBIDDEN", message: GoogleError.foreignPage.message)
    /// Without sources: a proxy sent the request on, so its client may be on another machine.
    static let forwardedOpen = ExpoError(status: 403, code: "FORBIDDEN", message: GoogleError.forwardedOpen.message)
    /// The token is valid, and its source may not send notifications.
    static let sourceForbidden = ExpoError(
        status: 403, code: "FORBIDDEN", message: GoogleError.sourceForbidden.message)
    /// The source has too many connections or requests in progress, or its rate permits no push of the request.
    static let tooManyRequests = ExpoError(
        status: 429, code: "TOO_MANY_REQUESTS", message: "The source sends too many requests; try again later.",
        isTransient: true)
    /// A path of the host or below the prefix that has no operation.
    static let notFound = ExpoError(status: 404, code: "NOT_FOUND", message: "The requested resource was not found.")
    /// The queue does not accept events, or the memory for bodies is exhausted.
    static let unavailable = ExpoError(
        status: 503, code: "SERVICE_UNAVAILABLE", message: "The service is currently unavailable.", isTransient: true)

    static func methodNotAllowed(_ method: String) -> ExpoError {
        ExpoError(
            status: 405, code: "METHOD_NOT_ALLOWED",
            message: "The method \(method.prefix(20)) is not supported; use POST.")
    }

    /// See RFC 9110, 15.5.16.
    static let codingUnknown = ExpoError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE",
        message: "The content encoding is not gzip; compress the body with gzip, or do not compress it.")

    /// The body is too large or damaged.
    static func tooLarge(limit: Int) -> ExpoError {
        ExpoError(
            status: 413, code: "PAYLOAD_TOO_LARGE",
            message: "The request entity is damaged or larger than \(limit) bytes.")
    }

    /// A failure that a rule makes, of a ticket or of the request.
    init(_ failure: InjectedFailure) {
        status = failure.status
        code = failure.reason
        message = "The failure rule \(failure.rule) answers this message."
        isTransient = failure.status == 429 || failure.status >= 500
        retryAfter = failure.retryAfter
    }

    /// A transient error has a `retry-after` of 5 s.
    init(status: Int, code: String, message: String, isTransient: Bool = false) {
        (self.status, self.code, self.message, self.isTransient) = (status, code, message, isTransient)
        retryAfter = isTransient ? 5 : nil
    }

    /// The response to a whole request.
    var reply: ProviderReply {
        var reply = ProviderReply.json(status: status) { json in
            json.objects("errors", of: [self]) { json, error in
                json.member("code", error.code)
                json.member("message", error.message)
                json.member("isTransient", error.isTransient)
            }
        }
        if let retryAfter { reply.headers.append(.init(name: "retry-after", value: "\(retryAfter)")) }
        if status == 405 { reply.headers.append(.init(name: "allow", value: "POST")) }
        return reply
    }

    /// The members of a ticket.
    func writeTicket(_ token: String, into json: inout JSONWriter) {
        json.member("status", "error")
        json.member("message", message)
        json.object("details") { json in
            json.member("error", code)
            json.member("expoPushToken", token)
        }
    }
}
