import SignalboxNotification

/// Reads the head of the one request that the proxy serves: `CONNECT host:port` (RFC 9110, 9.3.6). A pure value.
///
/// Strict where a second reader might see another request: line ends, repeated `host` fields, a body. HTTP/1.0 is
/// accepted, because Python's http.client sends it. A `proxy-authorization` field has no effect: senders prove their
/// identity to the provider endpoints behind the tunnel.
struct ConnectHead {
    enum Step: Sendable {
        /// The head has not ended; more bytes must follow.
        case incomplete
        /// `rest`: the bytes after the head, the first ones of the tunnel.
        case tunnel(to: ProviderHost, rest: [UInt8])
        /// The proxy must send ``ConnectRefusal/response`` and close.
        case refused(ConnectRefusal)
    }

    /// All bytes so far: at most those of one read beyond ``limit``.
    private var bytes: [UInt8] = []
    /// Bytes of the head, with its empty line.
    private let limit: Int

    /// `limit`: the most bytes of a head.
    init(limit: Int) { self.limit = limit }

    /// Reads further bytes. Must not be called after the last step.
    mutating func receive(_ piece: some Collection<UInt8>) -> Step {
        let start = bytes.count
        bytes.append(contentsOf: piece)
        // The first byte of TLS is a control character; a method is letters.
        guard let first = bytes.first else { return .incomplete }
        guard (UInt8(ascii: "A")...UInt8(ascii: "z")).contains(first) else { return .refused(.notHTTP) }
        for position in start..<bytes.count {
            if position >= limit { return .refused(.tooLarge(limit: limit)) }
            switch bytes[position] {
            case UInt8(ascii: "\n"):
                guard position > 0, bytes[position - 1] == UInt8(ascii: "\r") else { return .refused(Self.lineEnd) }
                guard position >= 3, bytes[position - 2] == UInt8(ascii: "\n") else { continue }
                return read(upTo: position + 1)
            case 0: return .refused(.malformed("it contains NUL"))
            default:
                if position > 0, bytes[position - 1] == UInt8(ascii: "\r") { return .refused(Self.lineEnd) }
            }
        }
        return .incomplete
    }

    private static let lineEnd = ConnectRefusal.malformed("its lines do not end with CR LF")

    /// Reads the head, which ends at `end`.
    private func read(upTo end: Int) -> Step {
        let text = String(decoding: bytes[..<(end - 4)], as: UTF8.self)
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        let first = lines.popFirst() ?? ""
        do throws(ConnectRefusal) {
            let target = try Self.target(of: first)
            try Self.check(lines)
            return .tunnel(to: try Self.host(target), rest: Array(bytes[end...]))
        } catch {
            return .refused(error)
        }
    }

    /// The target of the request line (RFC 9112, 3).
    private static func target(of line: Substring) throws(ConnectRefusal) -> Substring {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("its first line is not \"CONNECT host:port HTTP/1.1\"") }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { throw .version }
        guard parts[0] == "CONNECT" else { throw .method }
        return parts[1]
    }

    /// Checks the fields; none of them changes the answer.
    private static func check(_ lines: ArraySlice<Substring>) throws(ConnectRefusal) {
        var hosts = 0
        for line in lines {
            let colon = line.firstIndex(of: ":") ?? line.startIndex
            let name = line[..<colon].lowercased()
            // Rejects a line that continues the previous one, too (RFC 9112, 5.2).
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { throw .malformed("a line is not a field") }
            let value = line[line.index(after: colon)...].filter { $0 != " " && $0 != "\t" }
            switch name {
            case "host": hosts += 1
            case "transfer-encoding": throw .malformed("CONNECT has no body")
            case "content-length" where value != "0": throw .malformed("CONNECT has no body")
            default: break
            }
        }
        guard hosts <= 1 else { throw .malformed("it has two host fields") }
    }

    /// Whether a byte may occur in a token (RFC 9110, 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// The host of `host:port`. Names are compared as a whole.
    private static func host(_ target: Substring) throws(ConnectRefusal) -> ProviderHost {
        guard let colon = target.lastIndex(of: ":"), colon > target.startIndex else {
            throw .malformed("its target is not host:port")
        }
        let (name, digits) = (target[..<colon], target[target.index(after: colon)...])
        let isNumber = (1...5).contains(digits.utf8.count) && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let port = Int(digits) else { throw .malformed("its target is not host:port") }
        guard name.utf8.allSatisfy({ $0.isLetterOrDigit || "-._:[]".utf8.contains($0) }) else {
            throw .malformed("its target is not host:port")
        }
        guard let host = ProviderHost.named(name, port: port) else { throw .otherHost("\(name.prefix(253)):\(port)") }
        return host
    }
}

/// Why the proxy opens no tunnel.
enum ConnectRefusal: Error, Equatable {
    /// TLS, or other bytes.
    case notHTTP
    /// The fault, as the end of a sentence.
    case malformed(String)
    /// Neither HTTP/1.1 nor HTTP/1.0.
    case version
    /// Another method than CONNECT, such as a GET that the proxy would have to forward.
    case method
    /// The head is longer than `limit` bytes.
    case tooLarge(limit: Int)
    /// `host:port`. Consists of letters, digits and `-._:[]`.
    case otherHost(String)
    /// The certificate of the gateway is not for this host.
    case noCertificate(String)

    private var status: String {
        switch self {
        case .notHTTP, .malformed: "400 Bad Request"
        case .otherHost: "403 Forbidden"
        case .method: "405 Method Not Allowed"
        case .tooLarge: "431 Request Header Fields Too Large"
        case .noCertificate: "503 Service Unavailable"
        case .version: "505 HTTP Version Not Supported"
        }
    }

    /// The fault and its remedy, for the developer of the sender.
    private var text: String {
        switch self {
        case .notHTTP:
            "The proxy speaks HTTP until a tunnel is open. Write its address as http://HOST:PORT in HTTPS_PROXY."
        case .malformed(let fault): "The request is invalid: \(fault)."
        case .version: "The proxy speaks HTTP/1.1."
        case .method:
            "The proxy opens tunnels to push services: CONNECT api.push.apple.com:443. It forwards no other request."
        case .tooLarge(let limit): "The head of the request exceeds \(limit) bytes."
        case .otherHost(let host):
            "The proxy serves push services only, not \(host). Name hosts that the sender reaches directly in NO_PROXY."
        case .noCertificate(let host):
            "The certificate of gateway.listen.tls is not for \(host). Make one with `signalbox certs new --renew`."
        }
    }

    /// The whole response. The connection closes after it.
    var response: [UInt8] {
        let allow = self == .method ? "allow: CONNECT\r\n" : ""
        let body = text + "\n"
        return Array(
            ("HTTP/1.1 \(status)\r\n\(allow)content-type: text/plain\r\ncontent-length: \(body.utf8.count)\r\n"
                + "connection: close\r\n\r\n\(body)").utf8)
    }
}
