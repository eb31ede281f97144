import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import SignalboxServer

@Suite struct CredentialsTests {
    @Test(
        arguments: [
            (nil, nil, true), ("127.0.0.1:8080", nil, true), ("127.0.0.1", nil, true), ("localhost:8080", nil, true),
            ("localhost", nil, true), ("127.9.9.9:80", nil, true), ("[::1]:8080", nil, true), ("[::1]", nil, true),
            // DNS rebinding: names that only begin like a loopback name.
            ("127.0.0.1.evil.example:8080", nil, false), ("127.0.0.1:8080.evil.example", nil, false),
            ("localhost.evil.example", nil, false), ("localhost:evil", nil, false), ("127.0.0.1:", nil, true),
            ("127.0.0.1:123456", nil, false), ("evil.example", nil, false), ("evil.example:8080", nil, false),
            ("10.0.0.1:8080", nil, false), ("", nil, false),
            // Pages of other sites.
            ("127.0.0.1:8080", "http://localhost:3000", true), ("127.0.0.1:8080", "http://127.0.0.1:8080", true),
            ("127.0.0.1:8080", "https://evil.example", false), ("127.0.0.1:8080", "null", false),
            ("127.0.0.1:8080", "http://127.0.0.1.evil.example", false),
        ] as [(String?, String?, Bool)])
    func recognisesRequestsFromThisMachine(authority: String?, origin: String?, isLocal: Bool) {
        let credentials = Credentials(authority: authority, origin: origin, authorization: nil)
        #expect(credentials.isFromThisMachine == isLocal)
    }

    /// Browsers send no origin with the reads of images, scripts and links.
    @Test(
        arguments: [
            (nil, nil, true), ("same-origin", nil, true), ("none", nil, true), ("cross-site", nil, false),
            ("same-site", nil, false), ("", nil, false), ("same-origin, cross-site", nil, false),
            // The origin says more: a page of this machine on another port is of the same site, or of another one.
            ("same-site", "http://localhost:3000", true), ("cross-site", "http://127.0.0.1:3000", true),
            ("cross-site", "https://evil.example", false), ("same-site", "null", false),
            ("same-origin", "https://evil.example", false),
        ] as [(String?, String?, Bool)])
    func aReadOfAnotherSiteIsNotFromThisMachine(site: String?, origin: String?, isLocal: Bool) {
        var credentials = Credentials(authority: "127.0.0.1:8080", origin: origin, authorization: nil)
        credentials.site = site
        #expect(credentials.isFromThisMachine == isLocal)
    }

    /// On the direct path, as the parser leaves it, and in the router.
    @Test(
        arguments: [
            [], [("sec-fetch-site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
            [("sec-fetch-site", "same-origin")],
            [("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
            [("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")],
            [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")], [("x-forwarded-for", "10.0.0.1")],
            [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
            [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-origin")],
        ] as [[(String, String)]])
    func everyPathDecidesAlike(fields: [(String, String)]) throws {
        let all = [("host", "127.0.0.1:8080")] + fields
        var routed = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:8080", path: "/v1/notifications")
        for (name, value) in fields {
            routed.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let expected = Credentials(routed)
        let lines = all.map { "\($0.0): \($0.1)\r\n" }.joined()
        let bytes = ByteBuffer(string: "POST /v1/notifications HTTP/1.1\r\n\(lines)content-length: 0\r\n\r\n")
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/v1/notifications", headers: HTTPHeaders(all))
        let direct = [PlainRequest(bytes)?.head, try CheckedHead(head).plain]
        for credentials in direct.compactMap({ $0?.credentials }) {
            #expect(credentials.isFromThisMachine == expected.isFromThisMachine)
            #expect(credentials.site == expected.site && credentials.isForwarded == expected.isForwarded)
        }
        // The router decides on repeated fields.
        let isRepeated = Set(fields.map { $0.0.lowercased() }).count < fields.count
        #expect(direct.allSatisfy { ($0 == nil) == isRepeated })
        #expect(!isRepeated || !expected.isFromThisMachine)
    }
}
