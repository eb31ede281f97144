import NIOHPACK
import NIOHTTP2

extension ProviderRequest {
    /// The request of a valid header block (RFC 9113, 8.3.1).
    init(_ frame: HTTP2Frame.FramePayload.Headers, on connection: ProviderConnection) {
        var (method, target, authority, length) = ("", "", String?.none, Int?.none)
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(frame.headers.count)
        for (name, value, _) in frame.headers {
            switch name {
            case ":method": method = value
            case ":path": target = value
            case ":authority": authority = value
            case _ where name.utf8.first == UInt8(ascii: ":"): break
            default:
                if name == "content-length" { length = Int(value) }
                headers.append((name, value))
            }
        }
        self.init(method: method, target: target, headers: headers, connection: connection)
        self.authority = authority ?? header("host")
        bodyLength = frame.endStream ? 0 : length
    }

    /// Cuts the target at its query. Without authority and length.
    init(method: String, target: String, headers: [(name: String, value: String)], connection: ProviderConnection) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        self.init(
            method: method, path: mark.map { String(target[..<$0]) } ?? target,
            query: mark.map { String(target[target.utf8.index(after: $0)...]) }, authority: nil, headers: headers,
            bodyLength: nil, connection: connection)
    }
}
