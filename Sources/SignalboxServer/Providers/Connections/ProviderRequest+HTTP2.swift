import NIOHPACK
import NIOHTTP2

extension ProviderRequest {
    /// The request of a header block that the library accepted (RFC 9113, 8.3.1). Nil for a malformed one: its `host`
    /// differs from `:authority`, or its `content-length` is repeated or is not a number (RFC 9110, 8.6).
    convenience init?(_ frame: HTTP2Frame.FramePayload.Headers, on connection: ProviderConnection) {
        var (method, target, authority, length, host) = ("", "", String?.none, Int?.none, String?.none)
        var port = ":443"
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(frame.headers.count)
        for (name, value, _) in frame.headers {
            guard name.utf8.first == UInt8(ascii: ":") else {
                if name == "content-length" {
                    // `Int` accepts a sign.
                    guard length == nil, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value)
                    else { return nil }
                    length = number
                } else if name == "host" {
                    // Pseudo-header fields precede the others.
                    guard (host ?? authority).map({ Self.isSameHost(value, $0, port) }) ?? true else { return nil }
                    host = value
                }
                headers.append((name, value))
                continue
            }
            switch name {
            case ":method": method = value
            case ":path": target = value
            case ":authority": authority = value
            case ":scheme": if value == "http" { port = ":80" }
            default: break
            }
        }
        self.init(
            method: method, target: target, authority: authority ?? host, headers: headers,
            bodyLength: frame.endStream ? 0 : length, connection: connection)
    }

    /// Compares without case, and without the default port of the scheme (RFC 3986, 6.2.3). `port`: with its colon.
    private static func isSameHost(_ one: String, _ other: String, _ port: String) -> Bool {
        func normal(_ host: String) -> Substring {
            let host = host.lowercased()
            return [port, ":"].first { host.hasSuffix($0) }.map { host.dropLast($0.count) } ?? host[...]
        }
        return one == other || normal(one) == normal(other)
    }

    /// Cuts the target at its query.
    convenience init(
        method: String, target: String, authority: String? = nil, headers: [(name: String, value: String)],
        bodyLength: Int? = nil, connection: ProviderConnection
    ) {
        var target = target
        // In memory, because a search by the indices of a string takes ten times as long.
        let mark = target.withUTF8 { $0.firstIndex(of: UInt8(ascii: "?")) }
        let (path, query) = mark.map { target.cut(at: $0) } ?? (target, nil)
        self.init(
            method: method, path: path, query: query, authority: authority, headers: headers, bodyLength: bodyLength,
            connection: connection)
    }
}

extension String {
    /// The parts before and after the character at a position in UTF-8.
    fileprivate func cut(at position: Int) -> (String, String?) {
        let mark = utf8.index(startIndex, offsetBy: position)
        return (String(self[..<mark]), String(self[utf8.index(after: mark)...]))
    }
}
