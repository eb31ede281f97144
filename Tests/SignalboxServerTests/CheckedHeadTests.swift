import HTTPTypes
import NIOHTTP1
import Testing

@testable import SignalboxServer

@Suite struct CheckedHeadTests {
    private static func head(
        _ headers: [(String, String)], uri: String = "/v1/notifications", version: HTTPVersion = .http1_1,
        method: HTTPMethod = .POST
    ) -> HTTPRequestHead {
        HTTPRequestHead(version: version, method: method, uri: uri, headers: HTTPHeaders(headers))
    }

    private static func refusal(of head: HTTPRequestHead) -> Problem? {
        do throws(Problem) {
            _ = try CheckedHead(head)
            return nil
        } catch {
            return error
        }
    }

    @Test func requiresOneHost() {
        #expect(Self.refusal(of: Self.head([("Host", "a")])) == nil)
        #expect(Self.refusal(of: Self.head([])) == .hostMissing)
        #expect(Self.refusal(of: Self.head([("host", "a"), ("HOST", "a")])) == .hostRepeated)
        #expect(Self.refusal(of: Self.head([], version: .http1_0)) == nil)
        #expect(Self.refusal(of: Self.head([("host", "a"), ("host", "b")], version: .http1_0)) == .hostRepeated)
        #expect(Self.refusal(of: Self.head([], uri: "http://a/")) == .hostMissing)
    }

    @Test(
        arguments: [
            ("127.0.0.1:8080", true), ("localhost", true), ("", true), ("a:", true), ("a-b.example_c:1", true),
            ("%41b", true), ("[::1]", true), ("[::1]:80", true), ("a,b", true), ("a:65535", true),
            ("a:65536", false), ("a:8x", false), ("a:+80", false), ("a:-0", false), ("[::1]:+80", false),
            ("a:1:2", false), ("a b", false), ("a/b", false), ("a?b", false),
            ("u@a", false), ("%4", false), ("%zz", false), ("[::1", false), ("[::1]x", false), ("[a]", false),
            ("[]", false), (":80", false), ("::1", false), ("\u{e4}", false), ("a\\b", false), ("a#b", false),
        ])
    func checksTheHost(_ host: String, isValid: Bool) {
        #expect(Self.refusal(of: Self.head([("host", host)])) == (isValid ? nil : .hostInvalid))
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8080/a?b=c", "127.0.0.1:8080", "/a?b=c"), ("HTTP://a", "a", "/"),
            ("https://[::1]?x", "[::1]", "/?x"),
            ("http://evil.example/v1/notifications", "evil.example", "/v1/notifications"),
        ])
    func usesTheAuthorityOfAnAbsoluteTarget(_ uri: String, host: String, path: String) throws {
        let head = try CheckedHead(Self.head([("Host", "localhost"), ("accept", "*/*")], uri: uri)).head
        #expect(head.headers["host"] == [host])
        #expect(head.uri == path)
    }

    @Test(
        arguments: [
            "http:///x", "http://u:p@a/x", "ftp://a/x", "http:a", "a", "*", "/a#b", "http://a#b", "http://a:b/",
            "http://a:+80/", "",
        ])
    func rejectsOtherTargets(_ uri: String) {
        #expect(Self.refusal(of: Self.head([("host", "a")], uri: uri)) == .targetInvalid)
    }

    /// White space around a value is not part of it (RFC 9112, 5.1).
    @Test func leavesOutWhiteSpaceAfterValues() throws {
        let fields = [("Host", "a "), ("Content-Length", "25 "), ("apns-topic", "com.example \t"), ("x", "  ")]
        let checked = try CheckedHead(Self.head(fields))
        #expect(checked.bodyLength == 25 && checked.isChanged && !checked.isLast)
        #expect(checked.head.headers.map(\.value) == ["a", "25", "com.example", ""])
        let chunked = try CheckedHead(Self.head([("host", "a"), ("transfer-encoding", "chunked ")]))
        #expect(chunked.bodyLength == nil)
    }

    @Test func acceptsTheAsteriskOfOptions() {
        #expect(Self.refusal(of: Self.head([("host", "a")], uri: "*", method: .OPTIONS)) == nil)
    }

    @Test(
        arguments: [
            (["transfer-encoding": "chunked"], nil), (["Transfer-Encoding": "CHUNKED"], nil),
            (["transfer-encoding": "gzip, chunked"], .transferCodingUnsupported),
            (["transfer-encoding": "identity"], .transferCodingUnsupported),
            (["transfer-encoding": "chunked", "content-length": "3"], .framingAmbiguous),
        ] as [([String: String], Problem?)])
    func checksTheFraming(_ fields: [String: String], refusal: Problem?) {
        let headers = [("host", "a")] + fields.map { ($0.key, $0.value) }
        #expect(Self.refusal(of: Self.head(headers)) == refusal)
        let old = Self.refusal(of: Self.head(headers, version: .http1_0))
        #expect(old == .framingAmbiguous)
    }

    @Test func rejectsChunkedTwice() {
        let headers = [("host", "a"), ("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")]
        #expect(Self.refusal(of: Self.head(headers)) == .framingAmbiguous)
    }

    @Test(
        arguments: [
            ("100-continue", "1", true, nil), ("100-Continue", "1", true, nil), ("100-continue", "0", false, nil),
            ("200-ok", "1", false, .expectationUnsupported),
        ] as [(String, String, Bool, Problem?)])
    func recognisesAnExpectation(_ value: String, length: String, expects: Bool, refusal: Problem?) throws {
        let headers = [("host", "a"), ("Expect", value), ("content-length", length)]
        #expect(Self.refusal(of: Self.head(headers)) == refusal)
        if refusal == nil { #expect(try CheckedHead(Self.head(headers)).expectsContinue == expects) }
        #expect(try !CheckedHead(Self.head(headers, version: .http1_0)).expectsContinue)
    }

    @Test func readsTheLengthOfTheBody() throws {
        #expect(try CheckedHead(Self.head([("host", "a")])).bodyLength == 0)
        #expect(try CheckedHead(Self.head([("host", "a"), ("Content-Length", "7")])).bodyLength == 7)
        #expect(try CheckedHead(Self.head([("host", "a"), ("transfer-encoding", "chunked")])).bodyLength == nil)
    }

    @Test(
        arguments: [
            ([("connection", "Close")], true), ([("connection", "keep-alive, close")], true), ([], false),
            ([("connection", "upgrade"), ("upgrade", "h2c")], true),
        ] as [([(String, String)], Bool)])
    func recognisesTheLastRequest(_ fields: [(String, String)], isLast: Bool) throws {
        let checked = try CheckedHead(Self.head([("host", "a")] + fields))
        #expect(checked.isLast == isLast)
        #expect((checked.head.headers["connection"] == ["close"]) == isLast)
    }

    /// Forwarders no longer see the options, which `close` replaces.
    @Test func removesTheFieldsThatTheOptionsOfALastRequestName() throws {
        let options = ("connection", "close, X-Hop, content-length")
        let checked = try CheckedHead(
            Self.head([("host", "a"), options, ("x-hop", "1"), ("x-end", "2"), ("content-length", "3")]))
        #expect(checked.head.headers.map(\.name).sorted() == ["connection", "content-length", "host", "x-end"])
    }

    @Test(
        arguments: [
            ([], true), ([("connection", "Keep-Alive"), ("content-type", "text/plain")], true),
            ([("authorization", "Bearer x"), ("origin", "http://localhost")], true), ([("connection", "close")], false),
            ([("connection", "upgrade")], false), ([("upgrade", "h2c")], false),
            ([("content-encoding", "gzip")], false),
            ([("Idempotency-Key", "1")], false), ([("expect", "100-continue"), ("content-length", "1")], false),
            ([("authorization", "a"), ("authorization", "b")], false), ([("origin", "a"), ("origin", "b")], false),
            ([("sec-fetch-site", "cross-site")], true),
            ([("sec-fetch-site", "none"), ("Sec-Fetch-Site", "none")], false),
        ] as [([(String, String)], Bool)])
    func recognisesPlainRequests(_ fields: [(String, String)], isPlain: Bool) throws {
        #expect(try (CheckedHead(Self.head([("host", "a")] + fields)).plain != nil) == isPlain)
    }

    @Test(
        arguments: [
            ("forwarded", true), ("Via", true), ("X-Forwarded-For", true), ("X-Real-IP", true), ("x-forwarded", false),
            ("vib", false), ("idempotency-kex", false),
        ])
    func recognisesForwardedRequests(_ name: String, isForwarded: Bool) throws {
        let checked = try CheckedHead(Self.head([("host", "a"), (name, "x")]))
        #expect(checked.plain?.credentials.isForwarded == isForwarded)
    }

    @Test func anAbsoluteTargetIsNotPlain() throws {
        #expect(try CheckedHead(Self.head([("host", "a")], uri: "http://a/v1/notifications")).plain == nil)
    }

    @Test func onlyAPOSTIsPlain() throws {
        #expect(try CheckedHead(Self.head([("host", "a")], method: .PUT)).plain == nil)
    }
}
