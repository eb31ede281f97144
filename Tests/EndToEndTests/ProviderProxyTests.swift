import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Senders that are not changed: the built binary is their HTTPS proxy.
@Suite(.timeLimit(.minutes(15))) struct ProviderProxyTests {
    private static let tls = #""tls": { "certificate": "file:certs/server.crt", "key": "file:certs/server.key" }"#
    private static let path = "/3/device/" + String(repeating: "0123456789abcdef", count: 4)
    private static let fields = ["-H", "apns-topic: com.example.app", "-d", #"{"aps":{"alert":"Hello"}}"#]
    /// With the keys that ``run(sources:_:)`` makes.
    private static let sources = """
        "sources": { "mobile": {
          "apns": { "keys": [ { "team": "TEAM000001", "key": "KEY0000001", "publicKey": "file:key.pem" } ] },
          "fcm": { "projects": ["demo"], "serviceAccounts": [
            { "email": "sender@demo.iam.gserviceaccount.com", "keyId": "key-1", "publicKey": "file:rsa.pub" } ] },
          "expo": { "tokens": ["env:EXPO_TOKEN"] } } },
        """

    private struct Setting {
        let gateway: Gateway
        let receiver: ReceivingServer
        let directory: String
        let proxy: String
    }

    /// Runs `body` with a gateway whose only other listener is the API.
    private func run(
        sources: String = "", _ body: @escaping @Sendable (Setting) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await binary.run(["certs", "new"], in: directory).status == 0)
            _ = try await ClientLibraries.run("apns-clients.py", ["identity", directory])
            try await openssl("genrsa", "-out", directory + "/rsa.pem", "2048")
            try await openssl("pkey", "-in", directory + "/rsa.pem", "-pubout", "-out", directory + "/rsa.pub")
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(
                    in: directory,
                    config: """
                        { "gateway": { "name": "test", "listen": { "proxy": "127.0.0.1:0", \(Self.tls) } }, \(sources)
                          "egress": { "allow": ["127.0.0.0/8"] },
                          "destinations": { "crm": { "url": "\(receiver.url)", "secret": "env:WEBHOOK_SECRET" } },
                          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                        """,
                    environment: ["EXPO_TOKEN": "expo-token"])
                let proxy = try #require(await gateway.process.proxyURL())
                try await body(Setting(gateway: gateway, receiver: receiver, directory: directory, proxy: proxy))
                #expect(await gateway.stop() == 0)
            }
        }
    }

    private func openssl(_ arguments: String...) async throws {
        let process = try RunningBinary(URL(fileURLWithPath: "/usr/bin/openssl"), arguments)
        process.send(Data())
        #expect(await process.end() == 0)
    }

    /// The standard output of curl, its exit code after it.
    private func curl(_ setting: Setting, _ arguments: [String]) async throws -> String {
        let process = try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["-sS", "--proxy", setting.proxy, "--noproxy", "", "--cacert", "certs/ca.crt", "--max-time", "30"]
                + arguments, in: setting.directory)
        process.send(Data())
        let (output, errors) = (await process.output.text(), await process.errors.text())
        return "\(output)\(errors)".trimmingCharacters(in: .newlines) + " \(await process.end())"
    }

    /// Only the environment leads the clients here. The events are of the source that the client proved to be.
    @Test(arguments: [
        ("kalyke", "key.p8", 2), ("firebase", "rsa.pem", 21), ("pyfcm", "rsa.pem", 1), ("expo", "key.p8", 1),
    ])
    func servesAnUnchangedClient(client: String, key: String, events: Int) async throws {
        try await run(sources: Self.sources) { setting async throws in
            let ca = setting.directory + "/certs/ca.crt"
            let output = try await ClientLibraries.run(
                "proxy-clients.py", [client, setting.directory + "/" + key],
                environment: [
                    "HTTPS_PROXY": setting.proxy, "https_proxy": setting.proxy, "NO_PROXY": "", "no_proxy": "",
                    "SSL_CERT_FILE": ca, "REQUESTS_CA_BUNDLE": ca,
                ])
            #expect(output.contains("true") && !output.contains("false"), "\(output)")
            let sent = await setting.receiver.next(events).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(sent.allSatisfy { $0.contains(#""source":"/signalbox/test/mobile""#) })
        }
    }

    @Test(arguments: ["--http2", "--http1.1"]) func theHostDecidesWhichPathsAreServed(version: String) async throws {
        try await run { setting async throws in
            let common = [version, "-w", "%{http_code} %{http_version} %header{apns-unique-id}"]
            let number = version == "--http2" ? "2" : "1.1"
            let production = try await curl(setting, common + Self.fields + ["https://api.push.apple.com" + Self.path])
            #expect(production == "200 \(number)  0")
            let sandbox = try await curl(
                setting, common + Self.fields + ["https://api.sandbox.push.apple.com:2197" + Self.path])
            #expect(sandbox.hasPrefix("200 \(number) ") && sandbox.count == production.count + 36)
            let labelled = try await curl(
                setting, common + Self.fields + ["https://api.push.apple.com/r/build-1" + Self.path])
            #expect(labelled == production)
            for (host, answer) in [
                ("fcm.googleapis.com", "Method not found."), ("exp.host", "The requested resource was not found."),
                ("api-manage-broadcast.push.apple.com:2196", "BadPath"),
                ("iamcredentials.googleapis.com", "Method not found."),
            ] {
                let other = try await curl(setting, common + Self.fields + ["https://" + host + Self.path])
                #expect(other.contains(answer) && other.hasSuffix("404 \(number)  0"), "\(other)")
            }
            _ = await setting.receiver.next(3)
        }
    }

    @Test func opensNoTunnelElsewhere() async throws {
        try await run { setting async throws in
            for url in ["https://example.com/", "https://127.0.0.1:\(setting.gateway.url.suffix(5))/healthz"] {
                let refused = try await curl(setting, [url])
                #expect(refused.contains("403") && refused.hasSuffix(" 56"), "\(refused)")
            }
            let plain = try await curl(setting, ["http://api.push.apple.com/"])
            #expect(plain.contains("It forwards no other request."))
            // Trusts another authority.
            let distrustful = try await curl(setting, ["--cacert", "client.pem", "https://exp.host/"])
            #expect(distrustful.hasSuffix(" 60"), "\(distrustful)")
            let metrics = try await setting.gateway.metrics()
            #expect(metrics.contains(#"signalbox_provider_connections_refused_total{reason="proxy"} 3"#))
            #expect(metrics.contains(#"signalbox_provider_connections_refused_total{reason="handshake"} 1"#))
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/node")))
    func servesNodeInATunnel() async throws {
        try await run { setting async throws in
            let process = try RunningBinary(
                URL(fileURLWithPath: "/usr/bin/node"),
                [
                    ClientLibraries.path("node-client.mjs"), "https://api.push.apple.com", "certs/ca.crt", "50",
                    String(setting.proxy.dropFirst("http://".count)),
                ], in: setting.directory)
            process.send(Data())
            let errors = await process.errors.text()
            #expect(await process.output.text() == "{\"200\":50}\n", "\(errors)")
            #expect(await process.end() == 0)
            _ = await setting.receiver.next(50)
        }
    }

    // MARK: The start

    /// A certificate for other hosts only, and for some hosts.
    @Test func checksTheCertificate() async throws {
        try await withTemporaryDirectory { directory in
            func certificate(_ names: String) async throws {
                try await openssl(
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                    "-addext", "subjectAltName=" + names, "-keyout", directory + "/key", "-out", directory + "/crt")
            }
            let config =
                #"{ "gateway": { "listen": { "proxy": "127.0.0.1:0", "tls": { "certificate": "file:crt", "key": "file:key" } } }, "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            try await certificate("DNS:push.example.com")
            let refused = try await binary.run(["serve", "--listen", "127.0.0.1:0"], in: directory)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("is for no host of a push service"))
            try await certificate("DNS:*.push.apple.com,DNS:api-manage-broadcast.sandbox.push.apple.com,DNS:exp.host")
            let process = try binary.start(["serve", "--listen", "127.0.0.1:0"], in: directory)
            var log = ""
            for await line in process.errors.stream {
                log += line + "\n"
                if line.contains("proxy for push services on") { break }
            }
            process.signal(SIGTERM)
            #expect(await process.end() == 0)
            let missing = "fcm.googleapis.com iid.googleapis.com oauth2.googleapis.com www.googleapis.com"
            #expect(log.contains(missing) && !log.contains("exp.host"), "\(log)")
        }
    }

    @Test func refusesToStartOnAPublicAddressWithoutSources() async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await binary.run(["certs", "new"], in: directory).status == 0)
            let config =
                #"{ "gateway": { "listen": { "proxy": "0.0.0.0:0", \#(Self.tls) } }, "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(["serve", "--listen", "127.0.0.1:0"], in: directory)
            #expect(result.status == 2)
            #expect(result.errors.contains("0.0.0.0:0 is reachable from other machines"))
        }
    }
}
