import HTTPTypes
import Testing

@testable import SignalboxServer

@Suite struct DirectIntakeTests {
    @Test(
        arguments: [
            (.post, "/v1/notifications", [:], true), (.post, "/v1/sources/app_1.x-y/notifications", [:], true),
            (.post, "/v1/notifications", ["connection": "Keep-Alive", "content-type": "text/plain"], true),
            // What has a way of its own, or is to be refused.
            (.get, "/v1/notifications", [:], false), (.put, "/v1/notifications", [:], false),
            (.post, "/v1/interactions", [:], false), (.post, "/", [:], false), (.post, "", [:], false),
            (.post, "/v1/notifications/", [:], false), (.post, "//v1/notifications", [:], false),
            (.post, "/v1/notifications?x=1", [:], false), (.post, "/v1/sources//notifications", [:], false),
            (.post, "/v1/sources/a%2Fb/notifications", [:], false),
            (.post, "/v1/sources/a/b/notifications", [:], false),
            (.post, "/v1/sources/a/notifications/", [:], false), (.post, "/v1/sources/a", [:], false),
            (.post, "/v1/notifications", ["connection": "close"], false),
            (.post, "/v1/notifications", ["connection": "upgrade"], false),
            (.post, "/v1/notifications", ["content-encoding": "gzip"], false),
            (.post, "/v1/notifications", ["expect": "100-continue"], false),
            (.post, "/v1/notifications", ["idempotency-key": "1"], false),
            (.post, "/v1/notifications", ["upgrade": "h2c"], false),
            (.post, "/v1/notifications", ["content-length": "16384"], true),
            (.post, "/v1/notifications", ["content-length": "16385"], false),
            (.post, "/v1/notifications", ["content-length": "1, 1"], false),
            (.post, "/v1/notifications", ["transfer-encoding": "chunked"], true),
        ] as [(HTTPRequest.Method, String, [String: String], Bool)])
    func onlyThePlainWayIsItsOwn(
        method: HTTPRequest.Method, path: String, headers: [String: String], isIts: Bool
    ) throws {
        var head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1", path: path)
        for (name, value) in headers { head.headerFields[try #require(HTTPField.Name(name))] = value }
        #expect((DirectIntake.isPlain(head) && DirectIntake.Address(head.path) != nil) == isIts)
    }
}
