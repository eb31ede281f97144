/// A header field of answers, as the description of the API names it. Raw values are the names of the fields, in lower
/// case; `components.json` describes each one.
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
}

/// A header field of requests that changes the answer. Each of them is optional in every request, and described in
/// `components.json`.
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
}
