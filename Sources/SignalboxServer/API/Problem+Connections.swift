import HTTPTypes

/// Requests that the HTTP layer rejects, and bodies that it cannot collect.
extension Problem {
    /// HTTP/1.0 requests may leave the field out (RFC 9112, 3.2).
    static let hostMissing = Problem(
        .badRequest, "host-invalid", "The request has no Host field: HTTP/1.1 requires exactly one.")
    /// Several Host fields are an error even if their values are equal (RFC 9112, 3.2).
    static let hostRepeated = Problem(
        .badRequest, "host-invalid", "The request has several Host fields: send exactly one.")
    /// An empty field is accepted.
    static let hostInvalid = Problem(
        .badRequest, "host-invalid", "The Host field is not a host name or address with an optional port.")
    /// Includes targets with a fragment (RFC 9112, 3.2).
    static let targetInvalid = Problem(
        .badRequest, "target-invalid", "The request target is neither a path nor an http or https URL.")
    /// RFC 9112, 2.2, 6.1 and 6.3: such a request may be an attempt at request smuggling.
    static let framingAmbiguous = Problem(
        .badRequest, "framing-ambiguous",
        "The end of the head or of the body is ambiguous: end each line with CR LF, and send one valid Content-Length, "
            + "or, with HTTP/1.1, \"Transfer-Encoding: chunked\" instead.")
    /// The parser cannot find the end of the body (RFC 9112, 7.1).
    static let malformedBody = Problem(
        .badRequest, "request-refused", "The chunked coding of the body is malformed: correct the client.")
    /// RFC 9112, 6.1.
    static let transferCodingUnsupported = Problem(
        .notImplemented, "transfer-coding-unsupported",
        "The only supported Transfer-Encoding is chunked: send the body without other codings.")
    /// RFC 9110, 10.1.1.
    static let expectationUnsupported = Problem(
        .expectationFailed, "expectation-unsupported", "The only supported Expect is 100-continue: leave the field out."
    )
    /// A client sees it if it has closed its side of the connection only.
    static let unreadableBody = Problem(
        .badRequest, "body-incomplete", "The connection ended before the whole body arrived: send the request again.")
    /// The body is later than ``BodyDeadline`` permits.
    static let slowBody = Problem(
        .requestTimeout, "body-too-slow", "The body arrived too slowly: send it faster or in parts.")
    /// The gateway accepts no compressed payloads; ``WebhookReceiver`` does.
    static let encodedBody = Problem(
        .unsupportedMediaType, "content-encoding-unsupported",
        "Compressed request bodies are not supported: leave content-encoding out.")
    /// A filter that is sent as a body would be ignored, and the request would apply to more than the client means.
    static let unexpectedBody = Problem(
        .badRequest, "body-unexpected", "This request has no body: use query parameters. No change was made.")
    /// ``BodyBudget`` is exhausted, for all clients or for this one.
    static let busy = Problem(
        .serviceUnavailable, "gateway-busy", title: noEvent,
        "All memory for request bodies is in use: send the request again in a moment.", headers: [.retryAfter: "1"])

    /// `limit`: in bytes.
    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            .contentTooLarge, "body-too-large",
            "A request body can have at most \(limit) bytes: send less, or a batch in parts. None of it was accepted.")
    }

    /// A request that the HTTP layer rejects. A response of the HTTP library other than 404 and without a code of its
    /// own.
    static func refused(_ status: HTTPResponse.Status) -> Problem {
        Problem(status, "request-refused", "\(status.reasonPhrase): check the path, the headers and the body.")
    }
}
