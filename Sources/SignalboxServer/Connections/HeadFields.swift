import NIOHTTP1

/// The header fields of a request that matter before the router, read in one pass. Used by ``CheckedHead`` and
/// ``PlainRequest``, so that both judge the same fields alike.
struct HeadFields {
    /// The last Host field; ``hosts`` counts all of them.
    private(set) var host: String?
    /// Host fields, equal ones included. HTTP/1.1 requires exactly one.
    private var hosts = 0
    /// Fields named `transfer-encoding`, not their elements.
    private(set) var codings = 0
    /// Whether the last coding is exactly `chunked`.
    private var isChunked = true
    /// The value of the last Content-Length; ``lengths`` counts all of them. The greatest number for a larger one.
    private(set) var length = 0
    /// Content-Length fields, equal ones included. ``PlainRequest`` requires exactly one.
    private(set) var lengths = 0
    /// Whether an Upgrade field exists, for any protocol. The gateway upgrades to none.
    private(set) var hasUpgrade = false
    /// Whether an Expect field is `100-continue`, without regard to case.
    private(set) var expectsContinue = false
    /// Whether an Expect field has any other value, which HTTP/1.1 answers with 417.
    private var expectsOther = false
    /// Whether one of ``Credentials/forwardingFields`` exists. Their values do not matter.
    private(set) var isForwarded = false
    /// The last Origin field. A repeated one sets ``hasOthers``, so the router decides.
    private(set) var origin: String?
    /// The last Sec-Fetch-Site field. A repeated one sets ``hasOthers``.
    private(set) var site: String?
    /// The last Authorization field, a secret. A repeated one sets ``hasOthers``.
    private(set) var authorization: String?
    /// Empty if it is repeated.
    private(set) var traceparent: String?
    /// Several are joined with commas.
    private(set) var tracestate: String?
    /// Whether a field exists, or is repeated, that only the router handles.
    private(set) var hasOthers = false

    /// No fields.
    init() {}

    /// All fields of a head.
    init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            var name = name
            name.withUTF8 { add($0, value) }
        }
    }

    /// Adds a field. Compares by length first: most fields match no case. `value`: without white space around it;
    /// evaluated only for fields that matter.
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: @autoclosure () -> String) {
        switch name.count {
        case 3 where equals(name, "via"), 9 where equals(name, "forwarded") || equals(name, "x-real-ip"),
            15 where equals(name, "x-forwarded-for"):
            isForwarded = true
        case 4 where equals(name, "host"):
            host = value()
            hosts += 1
        case 6 where equals(name, "expect"):
            if equals(value(), "100-continue") { expectsContinue = true } else { expectsOther = true }
        case 6 where equals(name, "origin"):
            if origin != nil { hasOthers = true }
            origin = value()
        case 7 where equals(name, "upgrade"): hasUpgrade = true
        // The parser closes the connection for either of them.
        case 10 where equals(name, "connection"), 16 where equals(name, "proxy-connection"):
            hasOthers = hasOthers || !equals(value(), "keep-alive")
        case 10 where equals(name, "tracestate"): tracestate = tracestate.map { $0 + "," + value() } ?? value()
        case 11 where equals(name, "traceparent"): traceparent = traceparent == nil ? value() : ""
        case 13 where equals(name, "authorization"):
            if authorization != nil { hasOthers = true }
            authorization = value()
        case 14 where equals(name, "content-length"):
            // The parser has rejected other values, or does once `PlainRequest` has.
            length = Int(value()) ?? .max
            lengths += 1
        case 14 where equals(name, "sec-fetch-site"):
            if site != nil { hasOthers = true }
            site = value()
        case 15 where equals(name, "idempotency-key"), 16 where equals(name, "content-encoding"): hasOthers = true
        case 17 where equals(name, "transfer-encoding"):
            codings += 1
            isChunked = equals(value(), "chunked")
        default: break
        }
    }

    /// Rejects framing that a proxy and this server could read differently (request smuggling). Throws the problem of
    /// the first rule that the head breaks: 400, 417, or 501 for a coding other than `chunked`.
    func check(version: HTTPVersion) throws(Problem) {
        guard hosts <= 1 else { throw .hostRepeated }
        guard host != nil || version.minor == 0 else { throw .hostMissing }
        if let host, !host.isEmpty, !Authority.isValid(host[...]) { throw .hostInvalid }
        if codings > 0 {
            guard lengths == 0, version.minor > 0 else { throw .framingAmbiguous }
            // The parser rejects a coding after `chunked` too, in one field or several.
            guard codings == 1 else { throw .framingAmbiguous }
            guard isChunked else { throw .transferCodingUnsupported }
        }
        // HTTP/1.0 has no expectations.
        guard !expectsOther || version.minor == 0 else { throw .expectationUnsupported }
    }
}

/// `text`: ASCII letters in lower case, digits and hyphens. Compares without case and without allocating.
private func equals(_ name: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    guard name.count == text.utf8CodeUnitCount else { return false }
    for position in name.indices where name[position] | 0x20 != text.utf8Start[position] { return false }
    return true
}

private func equals(_ value: String, _ text: StaticString) -> Bool {
    var value = value
    return value.withUTF8 { equals($0, text) }
}
