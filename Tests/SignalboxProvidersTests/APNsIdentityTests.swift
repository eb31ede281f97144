import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import Testing

@testable import SignalboxServer

/// How senders prove their identity.
@Suite struct APNsIdentityTests {
    private static func bearer(_ token: String) -> (String, String) { ("authorization", "bearer " + token) }

    private static func certificate(
        _ digest: UInt8 = 0xAB, uid: String? = nil, isIssued: Bool = false
    ) -> ProviderConnection.ClientCertificate {
        .init(
            sha256: [UInt8](repeating: digest, count: 32), subjectUID: uid, isIssuedByClientCA: isIssued)
    }

    /// Every way in which a token can be wrong.
    @Test(arguments: [
        ("valid", "200"), ("float", "200"), ("string", "200"), ("59 minutes", "200"), ("4 minutes ahead", "200"),
        ("61 minutes", "403 ExpiredProviderToken"), ("6 minutes ahead", "403 InvalidProviderToken"),
        ("none", "403 InvalidProviderToken"), ("none, signed", "403 InvalidProviderToken"),
        ("HS256", "403 InvalidProviderToken"), ("DER", "200"), ("standard Base64", "200"),
        ("foreign", "403 InvalidProviderToken"), ("expired, foreign", "403 InvalidProviderToken"),
        ("foreign, DER", "403 InvalidProviderToken"), ("short", "403 InvalidProviderToken"), ("ES512", "200"),
        ("ES512, SHA-256", "403 InvalidProviderToken"), ("ES512, short", "403 InvalidProviderToken"),
        ("unknown key", "403 InvalidProviderToken"), ("unknown team", "403 InvalidProviderToken"),
        ("no kid", "403 InvalidProviderToken"), ("no iss", "403 InvalidProviderToken"),
        ("no iat", "403 InvalidProviderToken"), ("iat true", "403 InvalidProviderToken"),
        ("iat text", "403 InvalidProviderToken"), ("other key", "200"), ("other team", "400 TopicDisallowed"),
    ])
    func verifiesTokens(_ name: String, _ answer: String) async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            // The second time from memory.
            for _ in 0..<2 {
                #expect(try await bench.push([Self.bearer(bench.tokens[name])]).summary == answer)
            }
        }
    }

    /// The answer does not tell the fault; the log and the capture do.
    @Test(arguments: [
        ("HS256", "alg is HS256, not ES256"), ("none", "alg is none, not ES256"),
        ("short", "the signature is neither 64 bytes long nor DER"),
        ("ES512, short", "the signature is neither 132 bytes long nor DER"),
        ("ES512, SHA-256", "the signature does not match key KEY0000001"),
        ("foreign, DER", "the signature does not match key KEY0000001"),
        ("no kid", "the header has no kid"), ("no iss", "the claims have no iss"),
        ("no iat", "iat is not a number of seconds"), ("6 minutes ahead", "iat is in the future"),
        ("unknown key", "no key KEY"), ("foreign", "the signature does not match key KEY0000001"),
    ])
    func tellsTheOperatorWhatIsWrong(_ name: String, _ detail: String) async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            let token = bench.tokens[name]
            let request = APNsBench.request("POST", [APNsBench.topic, Self.bearer(token)])
            #expect(try await bench.answer(request).summary == "403 InvalidProviderToken")
            let line = try #require(bench.log.lines.last)
            #expect(line.contains("detail=\(detail)"), "\(line)")
            #expect(!line.contains(token.suffix(20)))
            #expect(bench.endpoint.refusedPush(of: request)?.detail?("InvalidProviderToken")?.hasPrefix(detail) == true)
        }
    }

    /// The token is not the fault: without sources, the proxy or the host is.
    @Test(arguments: [
        ("x-forwarded-for", "localhost", "A proxy forwarded this request"),
        ("x-other", "gateway.example", "Without sources in its config"),
    ])
    func tellsTheOperatorWhyARequestIsForbidden(_ field: String, _ host: String, _ detail: String) async throws {
        try await APNsBench.run { bench async throws in
            let headers = [APNsBench.topic, Self.bearer("a.b"), (field, "203.0.113.9")]
            let request = APNsBench.request("POST", APNsBench.path, headers, authority: host)
            #expect(try await bench.answer(request).summary == "403 Forbidden")
            #expect(bench.log.lines.last?.contains("detail=\(detail)") == true)
            let push = try #require(bench.endpoint.refusedPush(of: request))
            #expect(push.detail?("Forbidden")?.hasPrefix(detail) == true)
            #expect(push.detail?("BadDeviceToken") == nil)
        }
    }

    @Test(arguments: [("basic x", "the scheme is not bearer"), ("bearer a.b", "the token is not a JWT")])
    func tellsTheOperatorAboutOtherText(_ authorization: String, _ detail: String) async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            #expect(bench.endpoint.access.tokens.detail(of: authorization) == detail)
        }
    }

    @Test(arguments: [
        ("", "403 MissingProviderToken"), ("bearer", "403 MissingProviderToken"),
        ("bearer ", "403 MissingProviderToken"), ("basic eDp5", "403 InvalidProviderToken"),
        ("bearer a.b", "403 InvalidProviderToken"), ("bearer a.b.c.d", "403 InvalidProviderToken"),
        ("bearer ..", "403 InvalidProviderToken"), ("bearer =.=.=", "403 InvalidProviderToken"),
        ("bearer " + String(repeating: "a", count: 9000), "403 InvalidProviderToken"),
    ])
    func rejectsOtherAuthorizations(_ value: String, _ answer: String) async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            #expect(try await bench.push([("authorization", value)]).summary == answer)
        }
    }

    @Test func acceptsTheSchemeInAnyCase() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            #expect(try await bench.push([("authorization", "Bearer " + bench.tokens["valid"])]).status == 200)
        }
    }

    @Test(arguments: [("", "200"), (#"{"connectionKey": true}"#, "403 UnrelatedKeyIdInToken")])
    func aConnectionBelongsToItsFirstTeam(_ strict: String, _ otherKey: String) async throws {
        try await APNsBench.run(APNsBench.sources(strict: strict)) { bench async throws in
            let connection = APNsBench.connection()
            func answer(_ name: String, topic: String = "com.example.app") async throws -> String {
                let fields = [Self.bearer(bench.tokens[name]), ("apns-topic", topic)]
                return try await bench.answer(APNsBench.request("POST", fields, on: connection)).summary
            }
            #expect(try await answer("foreign") == "403 InvalidProviderToken")
            #expect(try await answer("valid") == "200")
            #expect(try await answer("other team", topic: "com.example.other") == "403 InvalidProviderToken")
            #expect(try await answer("other key") == otherKey)
            #expect(try await answer("valid") == "200")
        }
    }

    @Test(arguments: [("", "200"), (#"{"tokenUpdates": true}"#, "429 TooManyProviderTokenUpdates")])
    func limitsNewTokensIfItIsStrict(_ strict: String, _ third: String) async throws {
        try await APNsBench.run(APNsBench.sources(strict: strict)) { bench async throws in
            for (name, answer) in [
                ("valid", "200"), ("second", "200"), ("valid", "200"), ("third", third), ("third", third),
                ("second", "200"),
            ] {
                #expect(try await bench.push([Self.bearer(bench.tokens[name])]).summary == answer, "\(name)")
            }
        }
    }

    @Test func acceptsACertificateInsteadOfAToken() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            func answer(
                _ certificate: ProviderConnection.ClientCertificate?, _ fields: [(String, String)] = [APNsBench.topic]
            ) async throws -> String {
                let connection = APNsBench.connection(certificate)
                return try await bench.answer(APNsBench.request("POST", fields, on: connection)).summary
            }
            #expect(try await answer(nil) == "403 MissingProviderToken")
            #expect(try await answer(Self.certificate()) == "200")
            #expect(try await answer(Self.certificate(), []) == "400 MissingTopic")
            #expect(try await answer(Self.certificate(uid: "com.example.app"), []) == "200")
            #expect(try await answer(Self.certificate(1)) == "403 BadCertificate")
            #expect(try await answer(Self.certificate(1, uid: "com.example.app")) == "403 BadCertificate")
            #expect(try await answer(Self.certificate(1, uid: "com.example.app", isIssued: true), []) == "200")
            #expect(try await answer(Self.certificate(1, uid: "com.example.x", isIssued: true)) == "403 BadCertificate")
            // A token has precedence, as Apple's errors for it are more precise.
            let wrong = Self.bearer(bench.tokens["foreign"])
            #expect(try await answer(Self.certificate(), [APNsBench.topic, wrong]) == "403 InvalidProviderToken")
        }
    }

    @Test func acceptsASecretInThePath() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            #expect(try await bench.push(path: "/s/open-sesame" + APNsBench.path).summary == "200")
            for secret in ["open-sesamE", "", "x", "open%2Dsesame"] {
                let reply = try await bench.push(path: "/s/\(secret)" + APNsBench.path)
                #expect(reply.summary == "403 InvalidProviderToken", "\(secret)")
            }
            try await bench.withEvents { events in
                #expect(events.map { $0["source"]?.string } == ["/signalbox/demo/mobile"])
            }
        }
    }

    @Test(arguments: [
        ("com.example.app", "200"), ("com.example.app.voip", "200"),
        ("com.example.app.push-type.liveactivity", "200"), ("com.example.other", "400 TopicDisallowed"),
        ("com.example.other.voip", "400 TopicDisallowed"), ("com.example", "400 TopicDisallowed"),
        ("com.example.app.x", "400 TopicDisallowed"), ("", "400 MissingTopic"), ("com.example/app", "400 BadTopic"),
        (String(repeating: "a", count: 256), "400 BadTopic"),
    ])
    func bindsTopicsToSources(_ topic: String, _ answer: String) async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            let fields = [Self.bearer(bench.tokens["valid"]), ("apns-topic", topic)]
            #expect(try await bench.answer(APNsBench.request("POST", fields)).summary == answer)
        }
    }

    /// Clients would escape its characters, or a slash would end it.
    @Test func refusesASecretThatIsNotPartOfAPath() async throws {
        let config = #"{"sources": {"first": {"apns": {"secrets": ["env:FIRST"]}}}}"#
        let error = await #expect(throws: ConfigRefusal.self) { try await APNsBench.run(config) { _ in } }
        #expect(error.map { "\($0)" }?.contains("env:FIRST is part of a path") == true)
    }

    @Test func aSourceWithoutTopicsHasThoseOfNoOther() async throws {
        let config = """
            {"sources": {"first": {"apns": {"secrets": ["env:SECRET"]}},
              "second": {"apns": {"secrets": ["env:OTHER"], "topics": ["com.example.app"]}}}}
            """
        try await APNsBench.run(config) { bench async throws in
            let path = "/s/open-sesame" + APNsBench.path
            #expect(try await bench.push(path: path).summary == "400 TopicDisallowed")
            let request = APNsBench.request("POST", path, [("apns-topic", "com.example.free")])
            #expect(try await bench.answer(request).summary == "200")
        }
    }

    // MARK: Without sources

    /// Everything but the signature: the sender's own mistakes show before Apple finds them.
    @Test(arguments: [
        ("valid", "200"), ("foreign", "200"), ("unknown key", "200"), ("61 minutes", "403 ExpiredProviderToken"),
        ("none", "403 InvalidProviderToken"), ("DER", "200"), ("standard Base64", "200"),
        ("short", "403 InvalidProviderToken"), ("no kid", "403 InvalidProviderToken"),
    ])
    func readsATokenWithoutSources(_ name: String, _ answer: String) async throws {
        try await APNsBench.run { bench async throws in
            #expect(try await bench.push([Self.bearer(bench.tokens[name])]).summary == answer)
        }
    }

    @Test func takesTheTopicOfACertificateWithoutSources() async throws {
        try await APNsBench.run { bench async throws in
            let connection = APNsBench.connection(Self.certificate(uid: "com.example.app"))
            #expect(try await bench.answer(APNsBench.request("POST", [], on: connection)).summary == "200")
            #expect(try await bench.answer(APNsBench.request("POST", [])).summary == "400 MissingTopic")
        }
    }

    @Test(
        arguments: [
            (nil, nil, "200"), ("127.0.0.1:2197", nil, "200"), ("localhost", nil, "200"), ("[::1]:2197", nil, "200"),
            ("api.push.apple.com", nil, "200"), ("api.sandbox.push.apple.com:443", nil, "200"),
            ("127.0.0.1", "http://evil.example", "403 Forbidden"),
            ("api.push.apple.com", "https://evil.example", "403 Forbidden"),
            ("127.0.0.1", "http://localhost:3000", "200"), ("evil.example", nil, "403 Forbidden"),
            ("evil.example:2197", nil, "403 Forbidden"), ("push.apple.com.evil.example", nil, "403 Forbidden"),
        ] as [(String?, String?, String)])
    func rejectsPagesOfOtherSites(_ authority: String?, _ origin: String?, _ answer: String) async throws {
        try await APNsBench.run { bench async throws in
            let fields = [APNsBench.topic] + (origin.map { [("origin", $0)] } ?? [])
            let request = APNsBench.request("POST", APNsBench.path, fields, authority: authority)
            #expect(try await bench.answer(request).summary == answer)
        }
    }

    @Test func anEmptyTokenLeavesTheCertificate() async throws {
        try await APNsBench.run { bench async throws in
            let connection = APNsBench.connection(Self.certificate(uid: "com.example.app"))
            let request = APNsBench.request("POST", [("authorization", "")], on: connection)
            #expect(try await bench.answer(request).summary == "200")
        }
    }

    @Test func namesTheEventInDevelopmentOnly() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            let reply = try await bench.push([Self.bearer(bench.tokens["valid"])])
            try await bench.withEvents { #expect($0.first?["id"]?.string == reply.header("apns-unique-id")) }
            let fields = [Self.bearer(bench.tokens["other team"]), ("apns-topic", "com.example.other")]
            let other = try await bench.answer(APNsBench.request("POST", fields))
            #expect(other.status == 200 && other.header("apns-unique-id") == nil)
        }
    }

    // MARK: Limits

    @Test func limitsThePushesOfASource() async throws {
        let config = """
            {"sources": {"mobile": {"apns": {"secrets": ["env:SECRET"]}, "limits": {"pushesPerSecond": 2}}}}
            """
        try await APNsBench.run(config) { bench async throws in
            var answers: [String] = []
            for _ in 0..<3 { answers.append(try await bench.push(path: "/s/open-sesame" + APNsBench.path).summary) }
            #expect(answers == ["200", "200", "429 TooManyRequests"])
        }
    }

    @Test(arguments: [("connections", true), ("streams", false)])
    func limitsASource(_ limit: String, _ closes: Bool) async throws {
        let config = """
            {"sources": {"mobile": {"apns": {"secrets": ["env:SECRET"]}, "limits": {"\(limit)": 1}}}}
            """
        try await APNsBench.run(config) { bench async throws in
            let path = "/s/open-sesame" + APNsBench.path
            let (first, second) = (APNsBench.connection(), APNsBench.connection())
            let request = APNsBench.request("POST", path, [APNsBench.topic], on: first)
            // The first push is in progress until its body arrives.
            let open = try #require(bench.endpoint.verdict(on: request))
            guard case .body = open else { Issue.record("The first push was refused."); return }
            let other = APNsBench.request("POST", path, [APNsBench.topic], on: second)
            let reply = try await bench.answer(other)
            #expect(reply.summary == "429 TooManyRequests")
            #expect((reply.after == .close) == closes)
            withExtendedLifetime((open, first)) {}
        }
    }

    // MARK: Log

    @Test func logsFailedProofsOnceAndWithoutSecrets() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            for name in ["foreign", "none", "61 minutes"] {
                _ = try await bench.push([Self.bearer(bench.tokens[name])])
            }
            _ = try await bench.push()
            _ = try await bench.push(path: "/s/wrong-secret" + APNsBench.path)
            let line =
                "Provider endpoint rejected a proof of identity. address=192.0.2.7 "
                + "detail=the signature does not match key KEY0000001 failures=1 reason=InvalidProviderToken"
            #expect(bench.log.lines == [line])
        }
    }

    /// Valid proofs of the same address are answered at once.
    @Test func holdsTheAnswersToManyFailedProofs() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            var delays: [Duration?] = []
            for _ in 0..<12 {
                let reply = try await bench.push([("authorization", "bearer x.y.z")])
                #expect(reply.summary == "403 InvalidProviderToken")
                delays.append(reply.delay)
            }
            #expect(delays == Array(repeating: nil, count: 10) + [.seconds(1), .seconds(1)])
            let accepted = try await bench.push(path: "/s/open-sesame" + APNsBench.path)
            #expect(accepted.status == 200 && accepted.delay == nil)
        }
    }
}

extension APNsBench {
    /// A push with exactly these fields.
    static func request(
        _ method: String, _ headers: [(String, String)], on connection: ProviderConnection? = nil
    ) -> ProviderRequest {
        request(method, path, headers, on: connection)
    }
}
