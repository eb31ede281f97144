import SignalboxConfig

/// A header field of answers, as the description of the API names it. Raw values are the names of the fields, in lower
/// case.
enum AnswerField: String, Sendable, CaseIterable {
    /// On every answer of operators' endpoints.
    case requestID = "x-request-id"
    /// RFC 9110, 10.2.3. Always a number of seconds, never a date.
    case retryAfter = "retry-after"
    /// RFC 9110, 8.8.3.
    case etag
    /// RFC 9111, 5.2.
    case cacheControl = "cache-control"
    /// RFC 9110, 11.6.1. On every 401.
    case authenticate = "www-authenticate"
    /// RFC 9110, 14.4. On 206 with the range, and on 416 with the size of the file.
    case contentRange = "content-range"
    /// RFC 9110, 14.3. Only media files have ranges.
    case acceptRanges = "accept-ranges"
    /// RFC 6266.
    case contentDisposition = "content-disposition"
    /// WHATWG Fetch: browsers do not guess another type than that of the answer.
    case contentTypeOptions = "x-content-type-options"
    /// RFC 9110, 12.5.5. On the page of metrics, whose form depends on two fields of the request.
    case vary
    /// The gateway's own field. Always `true`; absent on a first answer.
    case idempotencyReplayed = "idempotency-replayed"

    /// Whether every answer with this field's status has it.
    var isRequired: Bool {
        switch self {
        case .idempotencyReplayed, .retryAfter: false
        default: true
        }
    }

    /// The header of the document's components.
    var node: JSONNode { ["description": .string(purpose), "required": .bool(isRequired), "schema": schema] }

    private var schema: JSONNode {
        switch self {
        case .retryAfter: ["type": "integer", "minimum": 0]
        case .etag: ["type": "string", "pattern": "^\"[^\"]*\"$"]
        case .requestID: ["type": "string", "minLength": 1, "maxLength": 128]
        case .idempotencyReplayed: ["type": "string", "const": "true"]
        default: ["type": "string"]
        }
    }

    /// One sentence in Markdown, for readers of answers.
    private var purpose: String {
        switch self {
        case .requestID: "The `x-request-id` of the request, or one of the gateway's own; also in its log."
        case .retryAfter: "Seconds after which to repeat the request."
        case .etag: "The strong tag of the content, for `if-none-match`."
        case .cacheControl: "How long, and by whom, the answer may be stored."
        case .authenticate: "`Bearer`."
        case .contentRange: "The position of the bytes in the file, or its size."
        case .acceptRanges: "`bytes`."
        case .contentDisposition: "Whether browsers show the content or save it."
        case .contentTypeOptions: "`nosniff`."
        case .vary: "The header fields of the request that change the answer."
        case .idempotencyReplayed: "Present if the answer is that of an earlier request with the same key."
        }
    }
}

/// A header field of requests that changes the answer. Each of them is optional in every request.
enum RequestField: String, Sendable, CaseIterable {
    /// Visible ASCII only, at most 128 bytes. The gateway's log has it too.
    case requestID = "x-request-id"
    /// After draft-ietf-httpapi-idempotency-key-header-07; for payloads only.
    case idempotencyKey = "idempotency-key"
    /// RFC 9110, 13.1.2. A weak tag matches too.
    case ifNoneMatch = "if-none-match"
    /// RFC 9110, 13.1.1. Weak tags never match.
    case ifMatch = "if-match"
    /// RFC 9110, 13.1.5. The gateway knows the form with a tag; a date counts as another tag.
    case ifRange = "if-range"
    /// RFC 9110, 14.2. Several ranges count as none.
    case range
    /// WHATWG HTML, 9.2. Browsers send it by themselves when a stream breaks off.
    case lastEventID = "last-event-id"
    case traceparent, tracestate

    /// The parameter of the document's components.
    var node: JSONNode {
        [
            "name": .string(rawValue), "in": "header", "required": false, "description": .string(purpose),
            "schema": schema,
        ]
    }

    /// The gateway ignores an `x-request-id` of another form, and answers 400 to such an `idempotency-key`.
    private var schema: JSONNode {
        switch self {
        case .requestID: ["type": "string", "pattern": "^[!-~]{1,128}$"]
        case .idempotencyKey: ["type": "string", "pattern": "^[!-~]{1,255}$"]
        default: ["type": "string"]
        }
    }

    private var purpose: String {
        switch self {
        case .requestID: "An identifier of the client's own, which the answer repeats."
        case .idempotencyKey: "Makes a repeat of the request harmless: it receives the first answer again."
        case .ifNoneMatch: "Tags of known content: the answer is 304 if one of them is current."
        case .ifMatch: "Tags of content: the answer is 412 if none of them is current."
        case .ifRange: "With another tag than the current one, `range` has no effect."
        case .traceparent: "The trace of the request (W3C Trace Context). A malformed one has no effect."
        case .tracestate: "Further values of the trace, with `traceparent`."
        case .lastEventID: "The last `id` that the client has received: the stream continues after it."
        case .range: "One range of bytes (RFC 9110, 14). A malformed one has no effect."
        }
    }
}
