import HTTPTypes
import Testing

@testable import SignalboxServer

@Suite struct BrowserAccessTests {
    private static let access = BrowserAccess(publicUrl: "https://Push.example.com:8443/gateway/")

    private static func head(
        _ method: HTTPRequest.Method = .post, _ authority: String? = "127.0.0.1:8080",
        type: String? = "application/json", fields: [String: String] = [:]
    ) -> HTTPRequest {
        var head = HTTPRequest(method: method, scheme: "http", authority: authority, path: "/v1/destinations/crm/pause")
        head.headerFields[.contentType] = type
        for (name, value) in fields { head.headerFields[text: name] = value }
        return head
    }

    private static func refusal(_ head: HTTPRequest, _ access: BrowserAccess = access) -> String? {
        do throws(Problem) {
            try access.check(head)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [
        "127.0.0.1:8080", "localhost", "[::1]:8080", "push.example.com", "PUSH.example.com:8443", "push.example.com.:1",
    ])
    func thisMachineAndThePublicHostAreKnown(host: String) {
        #expect(throws: Never.self) { try Self.access.checkHost(of: Self.head(.get, host)) }
    }

    @Test(arguments: [
        "evil.test", "evil.test:8080", "push.example.com.evil.test", "10.0.0.5", "127.0.0.1.evil.test", "",
    ])
    func otherHostsAreForeign(host: String) {
        #expect(throws: Problem.foreignHost) { try Self.access.checkHost(of: Self.head(.get, host)) }
        #expect(throws: Problem.foreignHost) {
            try BrowserAccess(publicUrl: nil).checkHost(of: Self.head(.get, "push.example.com"))
        }
    }

    @Test(arguments: [
        ("https://[2001:DB8::1]", "[2001:db8::1]:443", "https://[2001:db8::1]"),
        ("https://gw.example.com:443/", "gw.example.com", "https://gw.example.com"),
        ("http://gw.example.com:80", "gw.example.com", "http://gw.example.com"),
        ("http://gw.example.com:8080/x/", "10.0.0.1", "http://gw.example.com:8080"),
    ])
    func publicUrlsAreComparedAsBrowsersWriteThem(url: String, host: String, origin: String) {
        let access = BrowserAccess(publicUrl: url)
        let refusal = host == "10.0.0.1" ? "host-foreign" : nil
        #expect(Self.refusal(Self.head(.post, host, fields: ["origin": origin]), access) == refusal)
        // A proxy on this machine may rewrite the host.
        #expect(Self.refusal(Self.head(.post, "127.0.0.1", fields: ["origin": origin]), access) == nil)
    }

    @Test func otherClientsPass() {
        #expect(Self.refusal(Self.head(.post, "gateway.internal:8080", type: nil)) == nil)
        #expect(Self.refusal(Self.head(.post, "gateway.internal:8080", type: "text/plain")) == nil)
    }

    @Test(arguments: [
        ["origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin"], ["sec-fetch-site": "same-origin"],
        ["origin": "https://push.example.com:8443"], ["origin": "http://127.0.0.1:8080"], ["sec-fetch-site": "none"],
    ])
    func theConsoleMayChange(fields: [String: String]) {
        #expect(Self.refusal(Self.head(fields: fields)) == nil)
        #expect(Self.refusal(Self.head(type: "Application/JSON; charset=utf-8", fields: fields)) == nil)
    }

    @Test(arguments: [
        ["origin": "http://evil.test"], ["origin": "null"], ["origin": "http://127.0.0.1:9999"],
        ["origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-site"], ["sec-fetch-site": "cross-site"],
        ["origin": "http://push.example.com:8443"], ["origin": "https://push.example.com"],
    ])
    func pagesOfOtherSitesMayNot(fields: [String: String]) {
        for method in [HTTPRequest.Method.post, .put, .delete] {
            #expect(Self.refusal(Self.head(method, fields: fields)) == "origin-foreign")
        }
    }

    @Test(arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
    func aFormIsNotAChange(type: String?) {
        #expect(Self.refusal(Self.head(type: type, fields: ["origin": "http://127.0.0.1:8080"])) == "origin-foreign")
    }

    @Test func aBrowserMayNotNameAnotherHost() {
        for method in [HTTPRequest.Method.get, .post] {
            for field in ["origin", "sec-fetch-site", "sec-fetch-mode"] {
                #expect(Self.refusal(Self.head(method, "evil.test", fields: [field: "same-origin"])) == "host-foreign")
            }
        }
    }

    @Test func readsNeedNoContentType() {
        #expect(Self.refusal(Self.head(.get, type: nil, fields: ["sec-fetch-site": "same-origin"])) == nil)
        #expect(Self.refusal(Self.head(.head, type: nil, fields: ["origin": "http://evil.test"])) == nil)
    }
}
