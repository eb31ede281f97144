import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The clients that senders use, against the built binary.
@Suite(.timeLimit(.minutes(15))) struct ProviderAPNsTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL.path
    private static let fields = ["-H", "apns-topic: com.example.app", "-d", #"{"aps":{"alert":"Hello"}}"#]
    private static let path = "/3/device/" + String(repeating: "0123456789abcdef", count: 4)

    /// A running gateway with a listener for providers.
    private struct Setting {
        let gateway: Gateway
        let receiver: ReceivingServer
        let directory: String
        let url: String
        var port: String { url.split(separator: ":").last.map(String.init) ?? "" }
    }

    /// Runs `body` with a gateway. `sources`: the section of the config, in which FINGERPRINT is that of the client
    /// certificate; empty for open access. `more`: further sections. `isTLS`: false for plain connections.
    private func run(
        sources: String = "", more: String = "", isTLS: Bool = true,
        _ body: @escaping @Sendable (Setting) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let identity = try await python(["identity", directory])
            #expect(try await binary.run(["certs", "new"], in: directory).status == 0)
            let tls = #", "tls": { "certificate": "file:certs/server.crt", "key": "file:certs/server.key" }"#
            let sources = sources.replacing("FINGERPRINT", with: identity.first ?? "")
            try await ReceivingServer.run { receiver in
                let config = """
                    { "gateway": { "name": "test", "listen": { "apns": "127.0.0.1:0"\(isTLS ? tls : "") } }, \(sources) \(more)
                      "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": { "crm": { "url": "\(receiver.url)", "secret": "env:WEBHOOK_SECRET" } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                    """
                let gateway = try await Gateway.start(in: directory, config: config)
                let url = try #require(await gateway.process.providerURL())
                try await body(Setting(gateway: gateway, receiver: receiver, directory: directory, url: url))
                #expect(await gateway.stop() == 0)
            }
        }
    }

    /// A source with the key and the certificate of `apns-clients.py identity`.
    private static let source = """
        "sources": { "mobile": { "apns": {
          "keys": [ { "team": "TEAM000001", "key": "KEY0000001", "publicKey": "file:key.pem" } ],
          "certificates": [ { "sha256": "FINGERPRINT" } ], "topics": ["com.example.app"] } } },
        """

    /// The lines that a run of the clients prints.
    private func python(_ arguments: [String], in directory: String? = nil) async throws -> [String] {
        let process = try RunningBinary(
            URL(fileURLWithPath: Self.root + "/.build/test-venv/bin/python"),
            [Self.root + "/Tests/Providers/apns-clients.py"] + arguments, in: directory)
        process.send(Data())
        let output = await process.output.text()
        let errors = await process.errors.text()
        #expect(await process.end() == 0, "\(errors)")
        return output.split(separator: "\n").map(String.init)
    }

    /// The results of a client's pushes.
    private func send(_ client: String, _ setting: Setting, _ more: [String]) async throws -> [ClientResult] {
        let key = ["--key", "key.p8", "--team", "TEAM000001", "--kid", "KEY0000001"]
        let proof = more.contains("--certificate") ? [] : key
        let arguments = [client, "localhost", setting.port, "certs/ca.crt"] + proof + more
        return try await python(arguments, in: setting.directory).map {
            try JSONDecoder().decode(ClientResult.self, from: Data($0.utf8))
        }
    }

    private struct ClientResult: Decodable {
        let token: String
        var status: String?
        var reason: String?
        var id: String?
        var timestamp: Int64?
    }

    /// The time since which a token is invalid, as the clients read it.
    @Test(arguments: ["aioapns", "apns2"])
    func aDeadTokenHasATimestamp(client: String) async throws {
        let failures = """
            "failures": [ { "name": "dead", "token": "\(String(repeating: "0", count: 63))2",
              "answer": { "reason": "Unregistered", "timestamp": "2026-01-01T00:00:00Z" } } ],
            """
        try await run(sources: Self.source, more: failures) { setting async throws in
            let results = try await send(client, setting, ["--count", "4"])
            #expect(results.filter { $0.status == "200" }.count == 3)
            let dead = results.filter { $0.status != "200" }
            #expect(dead.map { String($0.token.suffix(1)) } == ["2"], "\(results)")
            #expect(dead.map(\.reason) == ["Unregistered"], "\(results)")
            #expect(dead.map(\.timestamp) == [1_767_225_600_000], "\(results)")
            _ = await setting.receiver.next(3)
        }
    }

    /// Every good push is an event, every bad one has Apple's reason.
    @Test(arguments: ["aioapns", "apns2", "kalyke"])
    func servesRealClients(client: String) async throws {
        try await run(sources: Self.source) { setting async throws in
            let results = try await send(client, setting, ["--count", "50", "--bad", "3"])
            #expect(results.count == 53)
            #expect(results.filter { $0.status == "200" }.count == 50)
            #expect(results.filter { $0.reason == "BadDeviceToken" }.map { $0.token.prefix(2) } == ["zz", "zz", "zz"])
            let messages = await setting.receiver.next(50)
            let events = messages.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(events.allSatisfy { $0.contains(#""source":"/signalbox/test/mobile""#) })
            #expect(events.allSatisfy { $0.contains(#""topic":"com.example.app""#) && $0.contains(#""transport":{"#) })
            let tokens = events.map { event in
                event.firstRange(of: #""token":"sha256:"#).map { event[$0.upperBound...].prefix(64) }
            }
            #expect(Set(tokens).count == 50)
            // No token in clear.
            #expect(!events.contains { $0.contains(String(repeating: "0", count: 60)) })
        }
    }

    /// Captures have the identifiers that the client gave its pushes.
    @Test func capturesThePushesOfARealClient() async throws {
        try await run { setting async throws in
            let results = try await send("aioapns", setting, ["--count", "20", "--bad", "2"])
            let (status, text) = try await setting.gateway.get(
                "/v1/captures/wait?count=20&timeout=5s&platform=apns", keeping: 1 << 20)
            #expect(status == 200)
            let accepted = results.filter { $0.status == "200" }.compactMap(\.id)
            #expect(accepted.count == 20)
            for id in accepted { #expect(text.contains(#""apnsId":"\#(id)""#)) }
            let refused = try await setting.gateway.get("/v1/captures?outcome=rejected", keeping: 1 << 20).text
            #expect(refused.split(separator: #""reason":"BadDeviceToken""#).count == 3)
            for _ in 0..<20 { _ = await setting.receiver.next() }
        }
    }

    /// A client certificate instead of a token.
    @Test func servesAClientWithACertificate() async throws {
        try await run(sources: Self.source) { setting async throws in
            let results = try await send("aioapns", setting, ["--certificate", "client.pem", "--count", "5"])
            #expect(results.map(\.status) == Array(repeating: "200", count: 5))
            let events = await setting.receiver.next(5).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(events.allSatisfy { $0.contains(#""source":"/signalbox/test/mobile""#) })
        }
    }

    /// A client without a known key.
    @Test func rejectsAForeignKey() async throws {
        try await run(sources: Self.source) { setting async throws in
            _ = try await python(["identity", setting.directory])
            let results = try await send("aioapns", setting, ["--count", "3"])
            #expect(results.map(\.reason) == Array(repeating: "InvalidProviderToken", count: 3))
        }
    }

    /// The same answers over every protocol.
    @Test(arguments: [
        (true, ["--http2"]), (true, ["--http1.1"]), (false, ["--http2-prior-knowledge"]), (false, ["--http1.1"]),
    ])
    func answersAlikeOverEveryProtocol(isTLS: Bool, protocols: [String]) async throws {
        try await run(isTLS: isTLS) { setting async throws in
            func curl(_ path: String, _ arguments: [String]) async throws -> String {
                let common = ["-s", "--cacert", "certs/ca.crt", "-w", "%{http_code}", "-o", "-"] + protocols
                let base = setting.url.replacing("127.0.0.1", with: "localhost")
                let process = try RunningBinary(
                    URL(fileURLWithPath: "/usr/bin/curl"), common + arguments + [base + path], in: setting.directory)
                process.send(Data())
                let output = await process.output.text()
                #expect(await process.end() == 0)
                return output.trimmingCharacters(in: .newlines)
            }
            #expect(try await curl(Self.path, Self.fields) == "200")
            #expect(try await curl("/3/device/x", Self.fields) == #"{"reason":"BadDeviceToken"}400"#)
            #expect(try await curl("/3/devices/x", Self.fields) == #"{"reason":"BadPath"}404"#)
            #expect(try await curl(Self.path, ["-H", "apns-topic: a.b"]) == #"{"reason":"MethodNotAllowed"}405"#)
            #expect(try await curl("/else", Self.fields) == #"{"reason":"BadPath"}404"#)
            let large = ["-H", "apns-topic: a.b", "-d", String(repeating: "x", count: 4097)]
            #expect(try await curl(Self.path, large) == #"{"reason":"PayloadTooLarge"}413"#)
            _ = await setting.receiver.next()
        }
    }

    /// Channels outlive the gateway, and broadcasts reach the receiver.
    @Test func keepsChannelsAcrossARestart() async throws {
        try await withTemporaryDirectory { directory in
            let config =
                #"{ "gateway": { "listen": { "apns": "127.0.0.1:0" } }, "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
            func curl(_ gateway: Gateway, _ path: String, _ arguments: [String]) async throws -> String {
                let url = try #require(await gateway.process.providerURL())
                let process = try RunningBinary(
                    URL(fileURLWithPath: "/usr/bin/curl"),
                    ["-s", "-w", "%header{apns-channel-id} %{http_code}"] + arguments + [url + path])
                process.send(Data())
                return await process.output.text().trimmingCharacters(in: .newlines)
            }
            let first = try await Gateway.start(in: directory, config: config)
            let created = try await curl(
                first, "/1/apps/com.example.app/channels",
                ["-d", #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#])
            #expect(created.hasSuffix(" 201"))
            #expect(await first.stop() == 0)
            let second = try await Gateway.start(in: directory, config: config)
            let channel = String(created.dropLast(4))
            let answer = try await curl(
                second, "/4/broadcasts/apps/com.example.app",
                ["-H", "apns-channel-id: " + channel, "-H", "apns-push-type: liveactivity", "-d", #"{"aps":{}}"#])
            #expect(answer == " 200")
            #expect(await second.stop() == 0)
        }
    }
}
