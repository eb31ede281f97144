import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// Requests that are forwarded, and their content.
@Suite struct PushForwardingTests {
    private static let mobile = SourceName("mobile")
    private static let token = Array(String(repeating: "ab", count: 32).utf8)
    private static let hashes = TokenHash(key: [UInt8](repeating: 7, count: 32))

    /// `upstream`: of the source `mobile`.
    private func run(
        _ upstream: String = #"{"mode": "tee"}"#, apns: String = #"{"secrets": ["env:PATH_SECRET"]}"#,
        _ body: (PushForwarding) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let text = """
                {"sources": {"mobile": {"auth": {"bearer": ["env:TOKEN"]}, "apns": \(apns), "upstream": \(upstream)},
                             "plain": {"auth": {"bearer": ["env:OTHER"]}}}}
                """
            let routed = try RoutedConfig(Array(text.utf8))
            let resolver = SecretResolver(
                path: "routes.json",
                environment: ["TOKEN": "own-token", "OTHER": "other", "PATH_SECRET": "open-sesame"])
            let http = OutboundHTTP(policy: AddressPolicy(allow: []))
            let passThrough = PassThrough(
                routed.config, tokens: try resolver.forwardedTokens(routed.config), http: http, routes: routed.routes,
                variants: EventVariants(tokens: Self.hashes), queue: try SQLiteQueue(in: directory),
                tokens: Self.hashes, ledger: ForwardLedger(logger: Logger(label: "test")))
            try body(
                PushForwarding(
                    passThrough: passThrough, senders: try APNsSenders(routed.config, by: resolver),
                    sources: SourceAccess(try resolver.sourceTokens(routed.config))))
        }
    }

    private func request(
        _ path: String, _ headers: [(String, String)] = [("authorization", "bearer x")], query: String? = nil,
        authority: String? = "push.example"
    ) -> ProviderRequest {
        ProviderRequest(
            method: "POST", path: path, query: query, authority: authority,
            headers: headers.map { (name: $0.0, value: $0.1) }, bodyLength: nil, connection: APNsBench.connection())
    }

    private func push(_ service: PushService = .apns, from source: SourceName = mobile) -> ProviderPush {
        var push = ProviderPush(body: Array("{}".utf8), source: source, platform: service)
        push.token = Self.token
        push.topic = "com.example.app"
        push.repeatKey = "id"
        return push
    }

    private static let device = "/3/device/" + String(decoding: token, as: UTF8.self)
    private static let send = "/v1/projects/demo/messages:send"

    /// The forwarded push; nil if the request is not forwarded.
    private func forwarded(_ plan: PushForwarding.Plan) -> ForwardedPush? {
        if case .forward(let make) = plan { make("event-1") } else { nil }
    }

    private func reason(_ plan: PushForwarding.Plan) -> String? {
        if case .refuse(let reason) = plan { reason } else { nil }
    }

    private func isCaptured(_ plan: PushForwarding.Plan) -> Bool { if case .capture = plan { true } else { false } }

    @Test func forwardsTheRequestWithoutThePrefixesOfTheGateway() async throws {
        try await run { forwarding in
            let headers = [
                ("apns-topic", "com.example.app"), ("authorization", "bearer x"), ("signalbox-run", "one"),
                ("content-length", "2"), ("te", "trailers"),
            ]
            for prefix in ["", "/s/open-sesame", "/r/run-1", "/s/open-sesame/r/run-1"] {
                let push = try #require(
                    forwarded(forwarding.plan(for: [push()], of: request(prefix + Self.device, headers, query: "a=b"))))
                #expect(push.path == Self.device + "?a=b" && push.provider == .apns && push.event == "event-1")
                #expect(push.headers.map(\.name) == ["apns-topic", "authorization"])
                #expect(push.body == Array("{}".utf8) && push.repeatKey == "id" && !push.isSandbox)
                #expect(push.target.token == Self.hashes.name(of: Self.token))
                #expect(push.target.topic == "com.example.app")
            }
        }
    }

    @Test func broadcastsAndMessagesAreForwardedToo() async throws {
        try await run { forwarding in
            let broadcast = forwarding.plan(for: [push()], of: request("/4/broadcasts/apps/com.example.app"))
            #expect(forwarded(broadcast)?.provider == .apns)
            #expect(forwarded(forwarding.plan(for: [push(.fcm)], of: request(Self.send)))?.provider == .fcm)
        }
    }

    /// The event names the identifier, so the push service must know it.
    @Test func anIdentifierThatTheGatewayMadeIsForwarded() async throws {
        try await run { forwarding in
            var made = push()
            made.transport = PushNotification.Transport()
            made.transport?.apnsId = "MADE"
            func headers(_ push: ProviderPush, _ path: String, _ sent: [(String, String)]) -> [String]? {
                let request = request(path, [("authorization", "bearer x")] + sent)
                return forwarded(forwarding.plan(for: [push], of: request))?.headers.map { "\($0.name)=\($0.value)" }
            }
            #expect(headers(made, Self.device, []) == ["authorization=bearer x", "apns-id=MADE"])
            #expect(headers(made, Self.device, [("apns-id", "own")]) == ["authorization=bearer x", "apns-id=own"])
            made.channel = "channel"
            #expect(
                headers(made, "/4/broadcasts/apps/com.example.app", [])
                    == ["authorization=bearer x", "apns-request-id=MADE"])
        }
    }

    @Test func sourcesWithoutAnUpstreamAreCaptured() async throws {
        try await run { forwarding in
            let plan = forwarding.plan(for: [push(from: SourceName("plain"))], of: request(Self.device))
            #expect(isCaptured(plan))
            #expect(isCaptured(forwarding.plan(for: [], of: request("/batch"))))
            #expect(!forwarding.refusesOthers(of: SourceName("plain")) && forwarding.refusesOthers(of: Self.mobile))
        }
        try await run(#"{"mode": "capture"}"#) { forwarding in
            #expect(isCaptured(forwarding.plan(for: [push()], of: request(Self.device))))
        }
    }

    @Test func onlyTestersAreForwarded() async throws {
        let tester = Self.hashes.name(of: Self.token)
        try await run(#"{"mode": "only", "tokens": ["\#(tester)"]}"#) { forwarding in
            #expect(forwarded(forwarding.plan(for: [push()], of: request(Self.device))) != nil)
            var other = push()
            other.token = [1]
            #expect(isCaptured(forwarding.plan(for: [other], of: request(Self.device))))
            #expect(isCaptured(forwarding.plan(for: [other, other], of: request("/batch"))))
            #expect(reason(forwarding.plan(for: [other, push()], of: request("/batch"))) != nil)
            #expect(!forwarding.refusesOthers(of: Self.mobile))
        }
    }

    @Test(arguments: ["/batch", "/fcm/send", "/--/api/v2/push/send", "/v1/projects/demo/else", "/s", "/s/x"])
    func otherEndpointsCannotBeForwarded(path: String) async throws {
        try await run { forwarding in
            #expect(reason(forwarding.plan(for: [push(.fcm)], of: request(path)))?.contains("messages:send") == true)
        }
    }

    @Test func severalPushesCannotBeForwarded() async throws {
        try await run { forwarding in
            #expect(reason(forwarding.plan(for: [push(.fcm), push(.fcm)], of: request(Self.send))) != nil)
        }
    }

    @Test func credentialsOfTheGatewayCannotBeForwarded() async throws {
        try await run { forwarding in
            let certificate = forwarding.plan(for: [push()], of: request(Self.device, []))
            #expect(reason(certificate)?.contains("client certificate") == true)
            let granted = GrantedTokens(key: [1]).grant(to: nil, at: Date())
            for token in ["Bearer \(granted)", "Bearer own-token", "key=AAAA"] {
                let plan = forwarding.plan(for: [push(.fcm)], of: request(Self.send, [("authorization", token)]))
                #expect(reason(plan)?.contains("the gateway issued") == true, "\(token)")
            }
        }
    }

    @Test func theHostOfTheSenderDecidesTheEnvironment() async throws {
        let hosts: [(String?, Bool, Bool)] = [
            ("api.sandbox.push.apple.com:443", true, true), ("api.development.push.apple.com", true, true),
            ("API.push.apple.com", false, false), ("gateway.example", false, true), (nil, false, true),
        ]
        for isDevelopment in [false, true] {
            let apns = #"{"secrets": ["env:PATH_SECRET"], "development": \#(isDevelopment)}"#
            try await run(apns: apns) { forwarding in
                for (host, plain, development) in hosts {
                    let plan = forwarding.plan(for: [push()], of: request(Self.device, authority: host))
                    #expect(forwarded(plan)?.isSandbox == (isDevelopment ? development : plain), "\(host ?? "none")")
                }
            }
        }
    }

    @Test func aRenewedTokenKeepsTheConnection() async throws {
        let tokens = try ProviderTokens()
        try await run { forwarding in
            func credential(_ name: String) -> [UInt8]? {
                let headers = [("authorization", "bearer " + tokens[name])]
                return forwarded(forwarding.plan(for: [push()], of: request(Self.device, headers)))?.credential
            }
            #expect(credential("valid") == credential("59 minutes"))
            #expect(credential("valid") != credential("other key"))
            #expect(credential("valid") == Array("TEAM000001\0KEY0000001".utf8))
        }
    }

    // MARK: Answers

    @Test func answersOfAPNsAlwaysHaveTheirIdentifier() {
        let reply = APNsReply("apns-id", id: "mine")
        var verdict = PushVerdict(host: "a", outcome: .accepted, status: 200)
        #expect(reply.answer(verdict).header("apns-id") == "mine")
        verdict.headers = [.init(name: "apns-id", value: "Theirs"), .init(name: "apns-unique-id", value: "u")]
        #expect(reply.answer(verdict).headers.map(\.value) == ["Theirs", "u"])
        #expect(reply.answer(PushVerdict(host: "a", outcome: .unreachable)).summary == "503 ServiceUnavailable")
        #expect(reply.answer(PushVerdict(host: "a", outcome: .rejected, status: 101)).status == 503)
    }

    @Test func anUnreachableFCMIsUnavailable() {
        let reply = GoogleError.answer(PushVerdict(host: "a", outcome: .unreachable))
        #expect(reply.status == 503 && reply.header("retry-after") == "5")
        #expect(String(decoding: reply.body, as: UTF8.self).contains("UNAVAILABLE"))
    }
}
