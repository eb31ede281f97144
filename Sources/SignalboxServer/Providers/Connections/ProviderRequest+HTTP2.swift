import NIOHPACK
import NIOHTTP2

extension ProviderRequest {
    /// The request of a valid header block (RFC 9113, 8.3.1).
    convenience init(_ frame: HTTP2Frame.FramePayload.Headers, on connection: ProviderConnection) {
        var (method, target, authority, length) = ("", "", String?.none, Int?.none)
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(frame.headers.count)
        for (name, value, _) in frame.headers {
            guard name.utf8.first == UInt8(ascii: ":") else {
                if name == "content-length" { length = Int(value) }
                headers.append((name, value))
                continue
            }
            switch name {
            case ":method": method = value
            case ":path": target = value
            case ":authority": authority = value
            default: break
            }
        }
        self.init(
            method: method, target: target, authority: authority ?? headers.first { $0.name == "host" }?.value,
            headers: headers, bodyLength: frame.endStream ? 0 : length, connection: connection)
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
