import NIOHTTP1
import SignalboxNotification

/// The head of a request that keeps the rules of HTTP/1.1 that the parser does not check (RFC 9112, 3.2 and 6.1).
///
/// After a head that breaks a rule, the end of the request is ambiguous: the connection is closed.
struct CheckedHead {
    /// The head with its target in origin form, without white space after values, and with `connection: close` when no
    /// request can follow.
    let head: HTTPRequestHead
    /// Whether ``head`` differs from the head that the client sent.
    let isChanged: Bool
    /// Bytes of the body; nil when it is chunked.
    let bodyLength: Int?
    /// Whether the connection closes after the response.
    let isLast: Bool
    /// Whether the client may wait for `100 Continue` before it sends the body (RFC 9110, 10.1.1).
    let expectsContinue: Bool
    /// Nil when more than the target, the credentials, the trace and the body of a POST matter for the response.
    let plain: PlainHead?

    /// Throws the problem to answer with before the connection closes. The problem is 400, 417 or 501;
    /// ``HeadFields/check(version:)`` finds most of them.
    init(_ head: HTTPRequestHead) throws(Problem) {
        var head = head
        // Read before the values are trimmed: the parser has decided on the original values.
        let isKeepAlive = head.isKeepAlive
        let isTrimmed = Self.trim(&head.headers)
        let fields = HeadFields(head.headers)
        try fields.check(version: head.version)
        let isOriginForm = head.uri.utf8.first == UInt8(ascii: "/") && !head.uri.utf8.contains(UInt8(ascii: "#"))
        if !isOriginForm { try Self.readTarget(of: &head) }
        // The parser stops after an upgrade request, which is not supported here.
        isLast = !isKeepAlive || fields.hasUpgrade || head.method == .CONNECT
        if isLast { Self.close(&head.headers) }
        isChanged = isLast || isTrimmed || !isOriginForm
        bodyLength = fields.codings > 0 ? nil : fields.length
        expectsContinue = fields.expectsContinue && head.version.minor > 0 && bodyLength != 0
        plain = isChanged || head.method != .POST ? nil : PlainHead(head.uri, fields)
        self.head = head
    }

    /// Replaces the connection options by `close`. Removes the fields that they named, because nothing after this knows
    /// that they concern this connection only (RFC 9110, 7.6.1).
    private static func close(_ headers: inout HTTPHeaders) {
        let options = Set(headers[canonicalForm: "connection"].map { $0.lowercased() }).subtracting(framing)
        if !options.isSubset(of: ["close"]) {
            let rest = headers.filter { !options.contains($0.name.lowercased()) }
            headers = HTTPHeaders(rest.map { ($0.name, $0.value) })
        }
        headers.replaceOrAdd(name: "connection", value: "close")
    }

    /// Fields that the server needs itself, even if a client names them as options.
    private static let framing: Set = ["host", "content-length", "transfer-encoding", "expect"]

    /// Removes white space after values, which the parser keeps and which is not part of them (RFC 9112, 5.1). True if
    /// there was any.
    private static func trim(_ headers: inout HTTPHeaders) -> Bool {
        guard headers.contains(where: { isBlank($0.value.utf8.last) }) else { return false }
        headers = HTTPHeaders(
            headers.map { name, value in
                let end = value.utf8.lastIndex { !isBlank($0) }
                return (name, end.map { String(decoding: value.utf8[...$0], as: UTF8.self) } ?? "")
            })
        return true
    }

    private static func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// The authority of an absolute target replaces the Host field (RFC 9112, 3.2.2). Leaves `*` and the targets of
    /// CONNECT unchanged; no endpoint has such a target.
    private static func readTarget(of head: inout HTTPRequestHead) throws(Problem) {
        if head.method == .CONNECT || (head.method == .OPTIONS && head.uri == "*") { return }
        let target = head.uri[...]
        guard !target.utf8.contains(UInt8(ascii: "#")), let scheme = target.firstIndex(of: ":"),
            ["http", "https"].contains(target[..<scheme].lowercased()),
            target[scheme...].hasPrefix("://")
        else { throw .targetInvalid }
        let rest = target[scheme...].dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard Authority.isValid(authority) else { throw .targetInvalid }
        let path = rest[authority.endIndex...]
        head.uri = path.hasPrefix("/") ? String(path) : "/" + path
        head.headers.replaceOrAdd(name: "host", value: String(authority))
    }
}

/// `uri-host [ ":" port ]`, as the Host field and absolute targets have it (RFC 9110, 7.2; RFC 3986, 3.2).
enum Authority {
    /// Accepts IPv6 addresses in brackets. User information is not part of it (RFC 9110, 4.2.4).
    static func isValid(_ text: Substring) -> Bool {
        guard text.utf8.first == UInt8(ascii: "[") else {
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            return isName(text[..<colon].utf8) && isPort(text[colon...])
        }
        guard let end = text.firstIndex(of: "]"),
            IPAddress(String(text[..<end].dropFirst()))?.isIPv6 == true
        else { return false }
        return isPort(text[end...].dropFirst())
    }

    /// A registered name or an IPv4 address. Escapes have two hexadecimal digits. Empty names are rejected. The
    /// characters are those of `reg-name` (RFC 3986, 3.2.2).
    private static func isName(_ name: Substring.UTF8View) -> Bool {
        var digitsDue = 0
        for byte in name {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                digitsDue = max(0, digitsDue - 1)
            case _ where digitsDue > 0: return false
            case UInt8(ascii: "%"): digitsDue = 2
            case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "G")...UInt8(ascii: "Z"): break
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): break
            case _ where "!$&'()*+,;=".utf8.contains(byte): break
            default: return false
            }
        }
        return digitsDue == 0 && !name.isEmpty
    }

    /// Empty, or a colon and an optional port. A port has digits only, so a sign is rejected. Ports beyond 65535 are
    /// rejected.
    private static func isPort(_ text: Substring) -> Bool {
        guard text.utf8.first == UInt8(ascii: ":") else { return text.isEmpty }
        let digits = text.utf8.dropFirst()
        guard digits.allSatisfy(\.isDigit), digits.count <= 5 else { return false }
        return digits.isEmpty || UInt16(Substring(digits)) != nil
    }
}
