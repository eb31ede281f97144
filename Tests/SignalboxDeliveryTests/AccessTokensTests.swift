import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxServerTesting
import SignalboxStore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct AccessTokensTests {
    private static func json(_ body: String, status: Int = 200) -> [String] {
        let escaped = body.replacing(#"\"#, with: #"\\"#)
        return [
            "--reply", #"HTTP/1.1 \#(status) Reply\r\ncontent-length: \#(body.utf8.count)\r\n\r\n"# + escaped,
        ]
    }

    private static func grant(_ token: String, expires: String = "3600") -> [String] {
        json(#"{"access_token":"\#(token)","token_type":"bearer","expires_in":\#(expires)}"#)
    }

    /// Runs a token server with these replies, and a client that requests tokens from it.
    private func withTokens<R>(
        _ replies: [[String]], id: String = "me", scope: String? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ body: (AccessTokens, Peer) async throws -> R
    ) async throws -> R {
        try await Peer.run(["canned"] + replies.flatMap { $0 }) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let credentials = Destination.ClientCredentials(
                tokenURL: "http://127.0.0.1:\(peer.port)/token", clientID: id,
                clientSecret: .environment("UNUSED"), scope: scope)
            let tokens = AccessTokens(
                credentials, secret: "s3cr+t/ä", transport: TransportOptions(), timeout: .seconds(20), http: http,
                now: now)
            return try await body(tokens, peer)
        }
    }

    @Test func asksAsRFC6749Says() async throws {
        try await withTokens([Self.grant("abc.DEF-1_~+/=")], id: "my id:1", scope: "hooks write") {
            (tokens, peer) async throws in
            #expect(try await tokens.token() == "abc.DEF-1_~+/=")
            let request = try #require(try await peer.next())
            #expect(request.line == "POST /token HTTP/1.1")
            #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
            #expect(request.body == "grant_type=client_credentials&scope=hooks+write")
            let basic = Data("my+id%3A1:s3cr%2Bt%2F%C3%A4".utf8).base64EncodedString()
            #expect(request.headers["authorization"] == "Basic \(basic)")
        }
    }

    @Test func requestsOneTokenForAllCallers() async throws {
        try await withTokens([Self.grant("first"), Self.grant("second")]) { (tokens, _) async throws in
            let all = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await tokens.token() } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(all == ["first"])
            #expect(try await tokens.token() == "first")
        }
    }

    @Test func requestsATokenShortlyBeforeTheExpiry() async throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        try await withTokens(
            [Self.grant("first"), Self.grant("second", expires: #""100""#), Self.grant("third")],
            now: { start + passed.withLock { $0 } },
            { (tokens, _) async throws in
                #expect(try await tokens.token() == "first")
                passed.withLock { $0 = .seconds(3539) }
                #expect(try await tokens.token() == "first")
                passed.withLock { $0 = .seconds(3540) }
                #expect(try await tokens.token() == "second")
                passed.withLock { $0 = .seconds(3540 + 89) }
                #expect(try await tokens.token() == "second")
                passed.withLock { $0 = .seconds(3540 + 90) }
                #expect(try await tokens.token() == "third")
            })
    }

    @Test func replacesARejectedToken() async throws {
        try await withTokens([Self.grant("first"), Self.grant("second"), Self.grant("third")]) {
            (tokens, _) async throws in
            #expect(try await tokens.token() == "first")
            #expect(try await tokens.token(insteadOf: "first") == "second")
            // A second caller with the rejected token receives the current one.
            #expect(try await tokens.token(insteadOf: "first") == "second")
            #expect(try await tokens.token() == "second")
        }
    }

    @Test(arguments: [
        (json(#"{"error":"invalid_client"}"#, status: 401), "the token server answered 401 invalid_client"),
        (json(#"{"error":"hunter2 was wrong"}"#, status: 400), "the token server answered 400"),
        (json("busy", status: 503), "the token server answered 503"),
        (json("<html>"), "the reply is not a JSON object"), (json("[]"), "the reply is not a JSON object"),
        (json("{}"), "the reply has no \"access_token\" that is valid in a header"),
        (json(#"{"access_token":"a b"}"#), "the reply has no \"access_token\" that is valid in a header"),
        (json(#"{"access_token":"a\r\nx: y"}"#), "the reply has no \"access_token\" that is valid in a header"),
        (json(#"{"access_token":"a","token_type":"mac"}"#), "the reply's \"token_type\" is not Bearer"),
        (json(String(repeating: " ", count: 70_000) + "{}"), "the reply is longer than 64 KiB"),
    ])
    func reportsWhyThereIsNoToken(reply: [String], words: String) async throws {
        try await withTokens([reply]) { (tokens, _) async throws in
            _ = await #expect(throws: TransportError.token(words)) { try await tokens.token() }
        }
    }

    @Test func doesNotCacheFailures() async throws {
        try await withTokens([Self.json("", status: 503), Self.grant("later")]) { (tokens, _) async throws in
            await #expect(throws: TransportError.self) { try await tokens.token() }
            #expect(try await tokens.token() == "later")
        }
    }

    @Test func addressPolicyAppliesToTheTokenServer() async throws {
        let http = OutboundHTTP(policy: AddressPolicy())
        defer { http.stop() }
        let tokens = AccessTokens(
            Destination.ClientCredentials(
                tokenURL: "http://127.0.0.1:9/", clientID: "me", clientSecret: .environment("UNUSED")),
            secret: "s", transport: TransportOptions(), timeout: .seconds(5), http: http)
        let words = "address denied: 127.0.0.1 is loopback; egress.allow in the config can name it"
        await #expect(throws: TransportError.token(words)) { try await tokens.token() }
    }

    // MARK: With a webhook

    private static let lease = Lease(
        delivery: 1, event: "01a1fb5e-d5ca-7cf1-b29a-8f766ae750fa", destination: DestinationName("crm"), attempts: 0,
        body: Array("{}".utf8))

    /// Sends to a destination with these statuses; returns the outcome, nil if nothing was sent, and the requests.
    private func send(
        statuses: [Int], grants: [[String]], headers: [(name: String, value: String)] = [],
        if mayBegin: @escaping @Sendable () -> Bool = { true },
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws -> (RetryPolicy.Answer?, [Peer.Request]) {
        let (result, requests) = try await send(
            replies: statuses.map { Self.json("", status: $0) }, grants: grants, headers: headers, if: mayBegin,
            instant: instant)
        return (result?.answer, requests)
    }

    /// The same with whole replies of the destination, and the record of the attempt.
    private func send(
        replies: [[String]], grants: [[String]], headers: [(name: String, value: String)] = [],
        if mayBegin: @escaping @Sendable () -> Bool = { true },
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws -> (SendResult?, [Peer.Request]) {
        try await Peer.run(["canned"] + grants.flatMap { $0 }) { server in
            try await Peer.run(["canned"] + replies.flatMap { $0 }) { peer in
                let http = OutboundHTTP(policy: try loopback())
                defer { http.stop() }
                var webhook = Destination.Webhook(url: "http://127.0.0.1:\(peer.port)/hook", secrets: [])
                webhook.credentials = Destination.ClientCredentials(
                    tokenURL: "http://127.0.0.1:\(server.port)/token", clientID: "me",
                    clientSecret: .environment("UNUSED"))
                let sender = WebhookSender(
                    webhook, keys: WebhookKeys([try WebhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]),
                    headers: headers, clientSecret: "s", http: http, version: "0", instant: instant)
                let result = await sender.send([Self.lease], if: mayBegin)
                var requests: [Peer.Request] = []
                if case .replied = result?.answer {
                    for _ in replies { requests.append(try #require(try await peer.next())) }
                }
                return (result, requests)
            }
        }
    }

    /// A token may take longer than a lease lasts.
    @Test func aLeaseThatEndsDuringTheRequestForATokenIsNotSent() async throws {
        let asked = Mutex(0)
        let (answer, requests) = try await send(statuses: [204], grants: [Self.grant("first")]) {
            asked.withLock { $0 += 1 }
            return false
        }
        #expect(answer == nil && requests.isEmpty)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func aLeaseThatEndsIsNotSentAgainWithAnotherToken() async throws {
        let asked = Mutex(0)
        let (answer, requests) = try await send(
            statuses: [401], grants: [Self.grant("first"), Self.grant("second")]
        ) {
            asked.withLock { asked in
                asked += 1
                return asked == 1
            }
        }
        #expect(answer == nil && requests.isEmpty, "the old token was refused, and the delivery was not")
        #expect(asked.withLock { $0 } == 2)
    }

    /// In the rest of its time, the request would fail for the token server's fault.
    @Test(arguments: [1.0, 0.9, 0.89]) func aTokenThatTakesTheTimeOfTheRequestIsATemporaryFailure(
        share: Double
    ) async throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let timeout = Destination.Webhook(url: "", secrets: []).timeout
        let (answer, requests) = try await send(
            statuses: [204], grants: [Self.grant("first")],
            if: {
                passed.withLock { $0 = timeout * share }
                return true
            }, instant: { start + passed.withLock(\.self) })
        let late = TransportError.token("the access token took longer than the destination's timeout")
        let expected: RetryPolicy.Answer = share < 0.9 ? .replied(status: 204, retryAfter: nil) : .failed(late)
        #expect(answer == expected)
        #expect(requests.count == (share < 0.9 ? 1 : 0))
    }

    @Test func sendsTheTokenAndTheConfiguredHeaders() async throws {
        let (attempt, requests) = try await send(
            statuses: [204], grants: [Self.grant("first")], headers: [("x-tenant", "acme")])
        #expect(attempt == .replied(status: 204, retryAfter: nil))
        #expect(requests.map { $0.headers["authorization"] } == ["Bearer first"])
        #expect(requests.map { $0.headers["x-tenant"] } == ["acme"])
        #expect(requests.map { $0.headers["webhook-id"] } == [Self.lease.event])
    }

    @Test func replacesARejectedTokenOnce() async throws {
        let (attempt, requests) = try await send(
            statuses: [401, 204], grants: [Self.grant("first"), Self.grant("second")])
        #expect(attempt == .replied(status: 204, retryAfter: nil))
        #expect(requests.map { $0.headers["authorization"] } == ["Bearer first", "Bearer second"])
        let (again, _) = try await send(
            statuses: [401, 401], grants: [Self.grant("first"), Self.grant("second"), Self.grant("third")])
        #expect(again == .replied(status: 401, retryAfter: nil))
    }

    @Test func aReplyThatRepeatsTheTokenIsHidden() async throws {
        let fields = #"x-request-id: t0ken-of-an-hour\r\ncontent-length: 20"#
        let refusal = ["--reply", #"HTTP/1.1 403 No\r\n\#(fields)\r\n\r\nno to t0ken-of-an-hou"#]
        let (result, _) = try await send(replies: [refusal], grants: [Self.grant("t0ken-of-an-hour")])
        let attempt = try #require(result?.attempt)
        #expect(String(decoding: attempt.excerpt, as: UTF8.self) == "[hidden: it repeats a header]")
        let exchange = String(decoding: try #require(attempt.exchange), as: UTF8.self)
        #expect(exchange.contains(#""x-request-id":"[hidden: it repeats a header]""#), "\(exchange)")
    }

    @Test func missingTokenIsATemporaryFailure() async throws {
        let (attempt, _) = try await send(statuses: [204], grants: [Self.json("", status: 500)])
        #expect(attempt == .failed(.token("the token server answered 500")))
        let outcome = RetryPolicy(.init()).outcome(
            of: try #require(attempt), number: 1, now: Date(timeIntervalSince1970: 0), random: 0)
        #expect(
            outcome
                == .retry(
                    after: .zero, status: nil, reason: "no access token: the token server answered 500"))
    }

    private func loopback() throws -> AddressPolicy {
        AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))])
    }
}
