import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The built binary between senders and a push service on loopback.
@Suite(.timeLimit(.minutes(15))) struct PassThroughTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL.path
    private static let curl = ["--http2-prior-knowledge", "-H", "apns-topic: com.example.app"]

    private struct Setting {
        let gateway: Gateway
        let receiver: ReceivingServer
        let service: PushServicePeer
        let directory: String
        /// The URL of the listener for providers.
        let url: String

        /// The answer to a push with the secret of the source, and a token for the push service.
        func push(_ token: String, id: String? = nil) async throws -> Reply {
            try await Reply(
                url + "/s/open-sesame/3/device/" + token,
                PassThroughTests.curl + ["-H", "authorization: bearer x.y.z", "-d", #"{"aps":{"alert":"Hello"}}"#]
                    + (id.map { ["-H", "apns-id: \($0)"] } ?? []))
        }

        /// The next events.
        func events(_ count: Int) async -> [[String: Any]] {
            await receiver.next(count).compactMap {
                try? JSONSerialization.jsonObject(with: Data($0.body)) as? [String: Any]
            }
        }
    }

    /// A device token that the push service answers with this status; 999 for no answer.
    private static func token(_ status: Int) -> String { "\(status)" + String(repeating: "a", count: 61) }

    /// Runs `body` with a gateway whose source `mobile` forwards pushes over TLS. `upstream`: further members.
    private func run(
        _ upstream: String = #""mode": "tee""#, isTLS: Bool = false,
        _ body: @escaping @Sendable (Setting) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let identity = try RunningBinary(
                URL(fileURLWithPath: Self.root + "/.build/test-venv/bin/python"),
                [Self.root + "/Tests/Providers/apns-clients.py", "identity", directory])
            identity.send(Data())
            #expect(await identity.end() == 0)
            let made = try await binary.run(["certs", "new"], in: directory).status
            #expect(made == 0)
            try Data().write(to: URL(fileURLWithPath: directory + "/testers"))
            let arguments = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            try await PushServicePeer.run(arguments) { service in
                try await ReceivingServer.run { receiver in
                    let config = Self.config(
                        upstream, service: service.port, authority: files.path("ca.pem"), isTLS: isTLS,
                        receiver: receiver.url)
                    let gateway = try await Gateway.start(
                        in: directory, config: config,
                        environment: ["PATH_SECRET": "open-sesame", "BEARER": "own-token", "ADMIN": "admin-token"])
                    let url = try #require(await gateway.process.providerURL())
                    try await body(
                        Setting(
                            gateway: gateway, receiver: receiver, service: service, directory: directory, url: url))
                    #expect(await gateway.stop() == 0)
                }
            }
        }
    }

    private static func config(
        _ upstream: String, service port: Int, authority: String, isTLS: Bool, receiver: String
    ) -> String {
        let tls = #", "tls": { "certificate": "file:certs/server.crt", "key": "file:certs/server.key" }"#
        let origin = "https://localhost:\(port)"
        return """
            { "gateway": { "name": "test", "listen": { "apns": "127.0.0.1:0"\(isTLS ? tls : "") } },
              "egress": { "allow": ["127.0.0.0/8", "::1/128"] },
              "admin": { "auth": { "bearer": ["env:ADMIN"] } },
              "sources": { "mobile": {
                "auth": { "bearer": ["env:BEARER"] },
                "apns": { "secrets": ["env:PATH_SECRET"],
                  "keys": [ { "team": "TEAM000001", "key": "KEY0000001", "publicKey": "file:key.pem" } ] },
                "fcm": { "projects": ["demo"] },
                "upstream": { "apns": "\(origin)", "fcm": "\(origin)", "tls": { "ca": "\(authority)" }, \(upstream) } } },
              "destinations": { "crm": { "url": "\(receiver)", "secret": "env:WEBHOOK_SECRET" } },
              "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
            """
    }

    /// The push service sees what aioapns sends, on one connection, and its answers reach aioapns and the receiver.
    @Test func aSenderTalksToThePushServiceThroughTheGateway() async throws {
        try await run(isTLS: true) { setting async throws in
            let port = setting.url.split(separator: ":").last.map(String.init) ?? ""
            let client = try RunningBinary(
                URL(fileURLWithPath: Self.root + "/.build/test-venv/bin/python"),
                [Self.root + "/Tests/Providers/apns-clients.py", "aioapns", "localhost", port, "certs/ca.crt"]
                    + ["--key", "key.p8", "--team", "TEAM000001", "--kid", "KEY0000001", "--count", "20"]
                    + ["--prefix", "410"], in: setting.directory)
            client.send(Data())
            let output = await client.output.text()
            #expect(await client.end() == 0)
            let lines = output.split(separator: "\n")
            #expect(lines.count == 20 && lines.allSatisfy { $0.contains(#""reason": "Unregistered""#) }, "\(output)")
            let arrived = try await setting.service.next(20)
            #expect(Set(arrived.map(\.connection)) == [1])
            #expect(Set(arrived.map { $0.header("authorization") ?? "" }).count == 1)
            #expect(arrived.allSatisfy { $0.header("authorization")?.hasPrefix("bearer ey") == true })
            #expect(arrived.allSatisfy { $0.header("apns-topic") == "com.example.app" })
            #expect(arrived.allSatisfy { $0.path.hasPrefix("/3/device/410") })
            #expect(arrived.allSatisfy { $0.body.contains(#""Goal""#) })
            #expect(!arrived.contains { $0.headers.contains { ["accept", "user-agent"].contains($0.first) } })
            let types = await setting.events(40).compactMap { $0["type"] as? String }
            #expect(types.filter { $0 == "io.signalbox.notification.received" }.count == 20)
            #expect(types.filter { $0 == "io.signalbox.push.answered" }.count == 20)
        }
    }

    /// A dead token reaches the sender and, by a webhook, the CRM.
    @Test func aDeadTokenReachesSenderAndReceiver() async throws {
        try await run { setting async throws in
            let reply = try await setting.push(Self.token(410), id: "8F5E6A0C-0000-4000-8000-00000000000A")
            #expect(reply.status == 410)
            #expect(
                String(decoding: reply.body, as: UTF8.self)
                    == #"{"reason": "Unregistered", "timestamp": 1795210140123}"#)
            let events = await setting.events(2)
            let push = try #require(events.first { $0["type"] as? String == "io.signalbox.notification.received" })
            let answer = try #require(events.first { $0["type"] as? String == "io.signalbox.push.answered" })
            let (sent, data) = (push["data"] as? [String: Any], try #require(answer["data"] as? [String: Any]))
            #expect((data["notification"] as? [String: Any])?["id"] as? String == push["id"] as? String)
            #expect(data["reason"] as? String == "Unregistered" && data["status"] as? Int == 410)
            #expect(data["timestamp"] as? String == "2026-11-20T21:29:00.123Z")
            let token = (data["target"] as? [String: Any])?["token"] as? String
            #expect(token?.hasPrefix("sha256:") == true)
            #expect((sent?["target"] as? [String: Any])?["token"] as? String == token)
            // A repeat gets the same answer, and the push service does not see it.
            let repeated = try await setting.push(Self.token(410), id: "8F5E6A0C-0000-4000-8000-00000000000A")
            #expect(repeated.status == 410 && repeated.body == reply.body)
            let answered = try await setting.push(Self.token(200)).status
            #expect(answered == 200)
            let forwarded = try await setting.service.next(2).map { $0.path.dropFirst(10).prefix(3) }
            #expect(forwarded == ["410", "200"])
            let page = try await Reply(
                setting.gateway.url + "/metrics", "-H", "authorization: Bearer admin-token")
            #expect(
                String(decoding: page.body, as: UTF8.self).contains(
                    #"signalbox_forwards_total{provider="apns",outcome="rejected"} 1"#))
        }
    }

    /// A type of push that Apple adds must not stop at the gateway.
    @Test func thePushServiceDecidesOnUnknownTypes() async throws {
        try await run { setting async throws in
            let fields = ["-H", "authorization: bearer x.y.z", "-H", "apns-push-type: future"]
            let reply = try await Reply(
                setting.url + "/s/open-sesame/3/device/" + Self.token(200),
                Self.curl + fields + ["-d", #"{"aps":{"alert":"Hello"}}"#])
            #expect(reply.status == 200)
            let request = try #require(try await setting.service.next().first)
            #expect(request.header("apns-push-type") == "future")
            let event = try #require(
                await setting.events(2).first { $0["type"] as? String == "io.signalbox.notification.received" })
            let data = try #require(event["data"] as? [String: Any])
            let warnings = data["warnings"] as? [[String: Any]] ?? []
            #expect(warnings.map { $0["code"] as? String } == ["apns.push-type-unknown"])
            // Without a field of the sender, the identifier of the event is sent on.
            let transport = try #require(data["transport"] as? [String: Any])
            #expect(transport["apnsId"] as? String == request.header("apns-id"))
        }
    }

    @Test func aSilentServiceIsUnavailable() async throws {
        try await run(#""mode": "tee", "timeout": "2s""#) { setting async throws in
            let reply = try await setting.push(Self.token(999))
            #expect(reply.status == 503)
            #expect(String(decoding: reply.body, as: UTF8.self) == #"{"reason":"ServiceUnavailable"}"#)
            let types = Set(await setting.events(2).compactMap { $0["subject"] as? String })
            #expect(types.contains("apns/unreachable"))
        }
    }

    @Test func onlyTestersReachThePushService() async throws {
        // The hash depends on the key of the data directory, so a first push tells it.
        try await run(#""mode": "only", "tokens": ["file:testers"]"#) { setting async throws in
            let captured = try await setting.push(Self.token(410)).status
            #expect(captured == 200)
            let event = try #require(await setting.events(1).first)
            let target = (event["data"] as? [String: Any])?["target"] as? [String: Any]
            let hash = try #require(target?["token"] as? String)
            try Data("\(hash)\n".utf8).write(to: URL(fileURLWithPath: setting.directory + "/testers"))
            for await line in setting.gateway.process.errors.stream where line.contains("Config reloaded.") { break }
            let forTester = try await setting.push(Self.token(410)).status
            #expect(forTester == 410)
            let forOthers = try await setting.push(Self.token(404)).status
            #expect(forOthers == 200)
            let isForwarded = try await setting.service.next(1).first?.path.hasPrefix("/3/device/410")
            #expect(isForwarded == true)
        }
    }

    /// Google's answer to a dry run reaches the sender too, and no event is made.
    @Test func dryRunsAreCheckedByGoogle() async throws {
        try await run { setting async throws in
            func check(_ token: String) async throws -> Reply {
                try await Reply(
                    setting.url + "/v1/projects/demo/messages:send",
                    ["--http2-prior-knowledge", "-H", "content-type: application/json"]
                        + ["-H", "authorization: Bearer ya29.google"]
                        + ["-d", #"{"validate_only":true,"message":{"token":"\#(token)"}}"#])
            }
            let accepted = try await check("abc")
            #expect(String(decoding: accepted.body, as: UTF8.self).contains("fake_message_id"))
            let dead = try await check("404abc")
            #expect(dead.status == 404 && String(decoding: dead.body, as: UTF8.self).contains("UNREGISTERED"))
            let page = try await Reply(
                setting.gateway.url + "/v1/captures", "-H", "authorization: Bearer admin-token")
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(text.contains(#""outcome":"dry-run","status":404,"reason":"UNREGISTERED""#))
            #expect(text.contains(#""outcome":"dry-run","status":200,"platform""#))
            #expect(!text.contains(#""eventId""#))
        }
    }

    /// Tokens of Google's are valid if Google says so.
    @Test func messagesOfFCMArePassedToGoogle() async throws {
        try await run { setting async throws in
            let send = setting.url + "/v1/projects/demo/messages:send"
            func post(_ bearer: String, _ token: String) async throws -> Reply {
                try await Reply(
                    send,
                    ["--http2-prior-knowledge", "-H", "content-type: application/json"]
                        + ["-H", "authorization: Bearer \(bearer)", "-d", #"{"message":{"token":"\#(token)"}}"#])
            }
            let rejected = try await post("refused", "abc").status
            #expect(rejected == 401)
            let sent = try await post("ya29.google", "abc")
            #expect(String(decoding: sent.body, as: UTF8.self) == #"{"name": "projects/demo/messages/1-abc"}"#)
            let dead = try await post("ya29.google", "404abc")
            #expect(dead.status == 404 && String(decoding: dead.body, as: UTF8.self).contains("UNREGISTERED"))
            let ownToken = try await post("own-token", "abc").status
            #expect(ownToken == 503)
            // A valid token is not called invalid because topics cannot be forwarded.
            let topics = setting.url + "/v1/projects/demo/registrations/abc/topicSubscriptions?topic_name=news"
            let subscription = try await Reply(
                topics, "--http2-prior-knowledge", "-H", "authorization: Bearer ya29.google", "-d", "{}")
            #expect(subscription.status == 503, "\(String(decoding: subscription.body, as: UTF8.self))")
            let arrived = try await setting.service.next(4)
            #expect(arrived.map { $0.body.contains("validate_only") } == [true, true, false, false])
            let subjects = await setting.events(4).compactMap { $0["subject"] as? String }
            #expect(subjects.filter { $0.hasPrefix("fcm/") }.sorted() == ["fcm/accepted", "fcm/rejected"])
            // The token is valid, so the sender must not renew it.
            let forbidden = try await post("forbidden", "abc")
            #expect(forbidden.status == 403)
            #expect(String(decoding: forbidden.body, as: UTF8.self).contains("PERMISSION_DENIED"))
        }
    }
}
