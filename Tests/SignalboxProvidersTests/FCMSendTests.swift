import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite struct FCMSendTests {
    private static let path = "/v1/projects/demo/messages:send"
    private static let message = #"{"message":{"token":"abc:APA91b","notification":{"title":"Hi"}}}"#
    private static let json = ("content-type", "application/json")
    private static let bearer = ("authorization", "Bearer bearer-token")

    /// The fixtures have a body each, and Google's error.
    @Test(arguments: try Fixture.all(in: .module, folder: "fcm"))
    func answersWithGooglesError(_ fixture: Fixture) async throws {
        try await GoogleBench.run { bench in
            let reply = try #require(await bench.answer("POST", Self.path, [Self.json], body: fixture.input))
            guard reply.status != 200 else {
                #expect(String(decoding: fixture.expected, as: UTF8.self).contains("\"accepted\""), "\(fixture)")
                #expect(try await bench.events().count == 1)
                return
            }
            let differences = try JSONDifference.lines(expected: fixture.expected, actual: reply.body)
            #expect(differences.isEmpty, "\(fixture): \(differences.joined(separator: "\n"))")
            #expect(reply.status == 400)
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func theNameEndsWithTheIdOfTheEvent() async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post(Self.path, Self.message, Self.json)
            let events = try await bench.events()
            #expect(reply.status == 200)
            #expect(events.count == 1)
            let name = try #require(reply.string("/name"))
            #expect(name.hasPrefix("projects/demo/messages/"))
            #expect(events[0].contains("\"id\":\"\(name.dropFirst("projects/demo/messages/".count))\""))
            #expect(events[0].contains("\"title\":\"Hi\""))
            #expect(events[0].contains("\"token\":\"sha256:"))
            #expect(!events[0].contains("APA91b"))
        }
    }

    @Test func aDryRunIsCheckedAndNotAccepted() async throws {
        try await GoogleBench.run { bench in
            let good = try await bench.post(
                Self.path, #"{"validate_only":true,"message":{"topic":"news"}}"#, Self.json)
            #expect(good.text == #"{"name":"projects/demo/messages/fake_message_id"}"#)
            let bad = try await bench.post(Self.path, #"{"validate_only":true,"message":{}}"#, Self.json)
            #expect(bad.status == 400)
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func aLargeOrDamagedBodyIsRejected() async throws {
        try await GoogleBench.run { bench in
            let large = String(repeating: " ", count: FCMEndpoint.sendLimit) + Self.message
            let reply = try await bench.post(Self.path, large, Self.json)
            #expect(reply.status == 400)
            #expect(reply.string("/error/status") == "INVALID_ARGUMENT")
            let coded = try await bench.post(Self.path, Self.message, Self.json, ("content-encoding", "br"))
            #expect(coded.status == 400)
        }
    }

    /// In pass-through, Google decides on values that its documents leave open, and on those that it adds.
    @Test func aForwardedMessageMayHaveWhatTheGatewayDoesNotKnow() throws {
        let text = #"{"message":{"token":"a b","android":{"new_field":1,"priority":"SOON"},"data":{"k":"FILLER"}}}"#
        let body = Array(text.replacing("FILLER", with: String(repeating: "x", count: 5000)).utf8)
        let wrong = Array(#"{"message":{"token":"a","new_field":1,"android":{"ttl":3}}}"#.utf8)
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let message = try FCMMessage(body, with: parser, isForwarded: true)
            #expect(message.hasUnknownNames && message.target == .device(Array("a b".utf8)))
            #expect(throws: GoogleError.self) { try FCMMessage(body, with: parser) }
            #expect(throws: GoogleError.self) { try FCMMessage(wrong, with: parser, isForwarded: true) }
            let known = try FCMMessage(Array(Self.message.utf8), with: parser, isForwarded: true)
            #expect(!known.hasUnknownNames)
        }
    }

    // MARK: Access

    /// Includes the rule for projects that no source lists.
    @Test(arguments: [
        ("Bearer bearer-token", "demo", 200), ("Bearer bearer-token", "elsewhere", 403),
        ("Bearer bearer-token", "nobodys", 403), ("key=server-key", "demo", 200), ("key= other-key ", "elsewhere", 200),
        ("key=other-key", "demo", 403), ("key=wrong", "demo", 401), ("Bearer wrong", "demo", 401),
        ("Bearer server-key", "demo", 401), ("Bearer expo-token", "demo", 401), ("key=bearer-token", "demo", 401),
        ("Basic YTpi", "demo", 401), ("", "demo", 401),
    ])
    func sourcesSendToTheirProjects(authorization: String, project: String, status: Int) async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post(
                "/v1/projects/\(project)/messages:send", Self.message, Self.json, ("authorization", authorization))
            #expect(reply.status == status)
            #expect(try await bench.events().count == (status == 200 ? 1 : 0))
            switch status {
            case 403: #expect(reply.string("/error/details/0/errorCode") == "SENDER_ID_MISMATCH")
            case 401:
                #expect(reply.string("/error/status") == "UNAUTHENTICATED")
                #expect(reply.headers.contains { $0.name == "www-authenticate" })
            default: break
            }
        }
    }

    @Test func withoutACredentialTheReasonIsThatItIsMissing() async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post(Self.path, Self.message, Self.json)
            #expect(reply.status == 401)
            #expect(reply.string("/error/details/0/reason") == "CREDENTIALS_MISSING")
        }
    }

    /// ProtoJSON reads null as absent, and a negative zero is not negative.
    @Test(
        arguments: [
            (
                #"{"validate_only":null,"validateOnly":true,"message":{"topic":"news"}}"#,
                "projects/demo/messages/fake_message_id"
            ),
            (
                #"{"validate_only":true,"message":{"topic":"news","android":{"ttl":"-0s"}}}"#,
                "projects/demo/messages/fake_message_id"
            ),
            (#"{"validate_only":true,"message":{"topic":"news","android":{"ttl":"-0.5s"}}}"#, nil),
        ] as [(String, String?)])
    func unusualValuesAreReadAsGoogleDoes(body: String, name: String?) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post(Self.path, body, Self.json)
            #expect(reply.string("/name") == name)
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func unknownAndExpiredTokensLookAlike() async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let account = ServiceAccountKey(email: "sender@demo.iam.gserviceaccount.com", keyID: "key-1")
            let token = bench.tokens.grant(to: account, at: bench.clock.now)
            let unknown = "ya29.c.signalbox-" + String(repeating: "0", count: 64)
            func reply(_ token: String) async throws -> ProviderReply {
                try await bench.post(Self.path, Self.message, Self.json, ("authorization", "Bearer \(token)"))
            }
            #expect(try await reply(token).status == 200)
            bench.clock.advance(by: 3599)
            #expect(try await reply(token).status == 200)
            bench.clock.advance(by: 1)
            let expired = try await reply(token)
            #expect(expired.status == 401)
            #expect(expired.string("/error/details/0/reason") == "ACCESS_TOKEN_EXPIRED")
            #expect(try await reply(unknown) == expired)
        }
    }

    @Test func aSourceBeyondItsLimitIsAnsweredInTheVendorsWords() async throws {
        let sources = GoogleBench.sources.replacing(
            "\"auth\": {", with: "\"limits\": {\"streams\": 1}, \"auth\": {")
        try await GoogleBench.run(sources) { bench in
            let first = bench.endpoints.verdict(on: GoogleBench.request("POST", Self.path, [Self.json, Self.bearer]))
            let second = try await bench.post(Self.path, Self.message, Self.json, Self.bearer)
            let expo = try await bench.post("/--/api/v2/push/send", "{}", ("authorization", "Bearer expo-token"))
            withExtendedLifetime(first) {}
            #expect(second.status == 429)
            #expect(second.string("/error/status") == "RESOURCE_EXHAUSTED")
            #expect(second.string("/error/details/0/errorCode") == "QUOTA_EXCEEDED")
            #expect(second.headers.contains(.init(name: "retry-after", value: "1")))
            #expect(expo.status == 429)
            #expect(expo.string("/errors/0/code") == "TOO_MANY_REQUESTS")
        }
    }

    /// Open access is for programs of this machine.
    @Test(arguments: [
        ("127.0.0.1:8080", nil, true, 200), ("localhost", nil, true, 200), ("fcm.googleapis.com", nil, true, 200),
        ("fcm.googleapis.com:443", nil, true, 200), ("evil.example", nil, true, 403),
        ("127.0.0.1:8080", "https://evil.example", true, 403),
        ("fcm.googleapis.com", "https://evil.example", true, 403), ("127.0.0.1:8080", nil, false, 403),
    ])
    func openAccessIsForThisMachine(host: String, origin: String?, isLoopback: Bool, status: Int) async throws {
        try await GoogleBench.run { bench in
            let headers = [Self.json] + (origin.map { [("origin", $0)] } ?? [])
            let reply = await bench.answer(
                "POST", Self.path, headers, body: Array(Self.message.utf8), authority: host, isLoopback: isLoopback)
            #expect(reply?.status == status)
        }
    }

    @Test func aWrongLabelOfTheRunIsAnInvalidArgument() async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post("/r/a%20b" + Self.path, Self.message, Self.json)
            #expect(reply.status == 400)
            #expect(reply.string("/error/status") == "INVALID_ARGUMENT")
            #expect(reply.string("/error/message")?.contains("/r/LABEL") == true)
            let legacy = try await bench.post("/fcm/send", #"{"to":"a"}"#, Self.json, ("signalbox-run", "a b"))
            #expect(legacy.status == 400 && legacy.text.hasPrefix("<HTML>"))
            let expo = try await bench.post("/r/a%20b/--/api/v2/push/send", "{}")
            #expect(expo.string("/errors/0/code") == "VALIDATION_ERROR")
            #expect(try await bench.events().isEmpty)
        }
    }

    // MARK: Paths

    @Test(arguments: [
        ("GET", "/v1/projects/demo/messages:send", 405), ("POST", "/v1/projects/demo/messages%3Asend", 200),
        ("POST", "/v1/projects/demo/messages", 404), ("POST", "/v1/projects//messages:send", 404),
        ("POST", "/v1/projects/demo", 404), ("GET", "/token", 405), ("PUT", "/fcm/send", 405),
        ("POST", "/fcm/other", 404), ("GET", "/iid/v1:batchAdd", 405), ("POST", "/iid/info/a", 405),
        ("POST", "/iid/other", 404), ("GET", "/batch", 405), ("HEAD", "/v1/projects/demo/messages:send", 405),
        ("POST", "/v1/projects/demo/registrations/a/topicSubscriptions/b", 405),
    ])
    func pathsAndMethodsAreGoogles(method: String, path: String, status: Int) async throws {
        try await GoogleBench.run { bench in
            let reply = try #require(await bench.answer(method, path, [Self.json], body: Array(Self.message.utf8)))
            #expect(reply.status == status)
            if status == 405 { #expect(reply.headers.contains { $0.name == "allow" }) }
        }
    }

    @Test(arguments: [
        "/", "/v1/notifications", "/v1/sources/a/notifications", "/v1", "/v1/projects", "/tokens", "/healthz",
    ])
    func otherPathsAreLeftToTheAPI(path: String) async throws {
        try await GoogleBench.run { bench in #expect(await bench.answer("POST", path) == nil) }
    }
}
