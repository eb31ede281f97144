import SignalboxConfig

/// A header field of answers, as the description of the API names it.
enum AnswerField: String, Sendable, CaseIterable {
    case requestID = "x-request-id"
    case retryAfter = "retry-after"
    case etag
    case cacheControl = "cache-control"
    case authenticate = "www-authenticate"
    case contentRange = "content-range"
    case acceptRanges = "accept-ranges"
    case contentDisposition = "content-disposition"
    case contentTypeOptions = "x-content-type-options"
    case vary
    case idempotencyReplayed = "idempotency-replayed"

    /// Whether every answer with this field's status has it.
    var isRequired: Bool {
        switch self {
        case .idempotencyReplayed, .retryAfter: false
        default: true
        }
    }

    /// The header of the document's components.
    var node: JSONNode {
        ["description": .string(purpose), "required": .bool(isRequired), "schema": schema]
    }

    private var schema: JSONNode {
        switch self {
        case .retryAfter: ["type": "integer", "minimum": 0]
        case .etag: ["type": "string", "pattern": "^\"[^\"]*\"$"]
        case .requestID: ["type": "string", "minLength": 1, "maxLength": 128]
        case .idempotencyReplayed: ["type": "string", "const": "true"]
        default: ["type": "string"]
        }
    }

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

/// A header field of requests that changes the answer.
enum RequestField: String, Sendable, CaseIterable {
    case requestID = "x-request-id"
    case idempotencyKey = "idempotency-key"
    case ifNoneMatch = "if-none-match"
    case ifMatch = "if-match"
    case ifRange = "if-range"
    case range
    case lastEventID = "last-event-id"
    case traceparent, tracestate

    /// The parameter of the document's components.
    var node: JSONNode {
        [
            "name": .string(rawValue), "in": "header", "required": false, "description": .string(purpose),
            "schema": schema,
        ]
    }

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
        case .lastEventID: "The last `id` that the client has received: the stream continues behind it."
        case .range: "One range of bytes (RFC 9110, 14). A malformed one has no effect."
        }
    }
}
