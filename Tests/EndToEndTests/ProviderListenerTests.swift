import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The listener for providers of the built binary.
@Suite(.timeLimit(.minutes(15))) struct ProviderListenerTests {
    private static func listen(clientCA: Bool) -> String {
        let authorities = clientCA ? #", "clientCA": "file:clients.crt""# : ""
        return
            #""gateway": { "name": "test", "listen": { "apns": "127.0.0.1:0", "tls": { "certificate": "file:certs/server.crt", "key": "file:certs/server.key"\#(authorities) } } },"#
    }

    private static func config(_ sections: String) -> String {
        #"{ \#(sections) "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
    }

    /// Runs `body` with a gateway whose certificate `signalbox certs new` made. `clientCA`: whether its authority
    /// identifies clients too.
    private func run(
        clientCA: Bool = false, _ body: (Gateway, _ port: Int, _ directory: String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await binary.run(["certs", "new"], in: directory).status == 0)
            try Self.setAuthorityOfClients(to: "certs/ca.crt", in: directory)
            let gateway = try await Gateway.start(in: directory, config: Self.config(Self.listen(clientCA: clientCA)))
            let url = try #require(await gateway.process.providerURL())
            let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
            #expect(url.hasPrefix("https://"))
            try await body(gateway, port, directory)
            #expect(await gateway.stop() == 0)
        }
    }

    private static func setAuthorityOfClients(to file: String, in directory: String) throws {
        let text = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + file))
        try text.write(to: URL(fileURLWithPath: directory + "/clients.crt"), options: .atomic)
    }

    /// Starts a play of Tests/Providers.
    private func start(_ name: String, _ port: Int, _ directory: String) throws -> RunningBinary {
        let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let process = try RunningBinary(
            root.appendingPathComponent(".build/test-venv/bin/python"),
            [root.path + "/Tests/Providers/frames.py", name, String(port), directory + "/certs/ca.crt"])
        process.send(Data())
        return process
    }

    /// The lines that a play prints.
    private func play(_ name: String, _ port: Int, _ directory: String) async throws -> [String] {
        try await lines(of: start(name, port, directory))
    }

    private func lines(of process: RunningBinary) async -> [String] {
        let output = await process.output.text()
        let errors = await process.errors.text()
        #expect(await process.end() == 0, "\(errors)")
        return output.split(separator: "\n").map(String.init)
    }

    @Test func usesARenewedCertificate() async throws {
        try await run { gateway, port, directory in
            let first = try await play("certificate", port, directory)
            #expect(first.first?.contains("TLSv1.3") == true)
            #expect(try await binary.run(["certs", "new", "--renew"], in: directory).status == 0)
            for await line in gateway.process.errors.stream where line.contains("Config reloaded.") { break }
            let second = try await play("certificate", port, directory)
            #expect(first != second)
        }
    }

    /// `signalbox certs new` makes certificates for 397 days.
    @Test func tellsWhenItsCertificateExpires() async throws {
        try await run { gateway, _, _ in
            let name = "signalbox_listener_certificate_expiry_timestamp_seconds "
            let sample = try await gateway.metrics().split(separator: "\n").first { $0.hasPrefix(name) }
            let end = try #require(sample.flatMap { Double($0.dropFirst(name.count)) })
            #expect(abs(end - Date().timeIntervalSince1970 - 397 * 86_400) < 86_400)
        }
    }

    /// A client connects again, so that the new authority judges its certificate.
    @Test func endsConnectionsWhenTheAuthorityOfClientsChanges() async throws {
        try await run(clientCA: true) { _, port, directory in
            #expect(try await binary.run(["certs", "new", "--directory", "other"], in: directory).status == 0)
            let client = try start("silent_stop", port, directory)
            var last = ""
            for await line in client.output.stream {
                last = line
                if line.contains("ready") { try Self.setAuthorityOfClients(to: "other/ca.crt", in: directory) }
            }
            #expect(await client.end() == 0)
            #expect(last == #"{"aways": ["GOAWAY 0 0 last=2147483647 code=0", "GOAWAY 0 0 last=1 code=0"]}"#)
        }
    }

    /// A certificate that cannot be used leaves the active one.
    @Test func keepsTheCertificateWhenTheNewOneIsInvalid() async throws {
        try await run { gateway, port, directory in
            let first = try await play("certificate", port, directory)
            try Data("x".utf8).write(to: URL(fileURLWithPath: directory + "/certs/server.crt"))
            gateway.process.signal(SIGHUP)
            var log: [String] = []
            for await line in gateway.process.errors.stream {
                log.append(line)
                if line.contains("Config rejected") { break }
            }
            #expect(log.contains { $0.contains("file:certs/server.crt has no certificate in PEM") })
            let second = try await play("certificate", port, directory)
            #expect(first == second)
        }
    }

    /// During attacks on one connection, the API answers, and the pushes of another sender go on.
    @Test(arguments: [
        "rapid_reset", "pings", "settings_flood", "priorities", "window_updates", "unknown_frames", "empty_data",
        "continuations", "header_bomb",
    ])
    func answersOthersDuringAnAttack(attack: String) async throws {
        try await run { gateway, port, directory in
            // Started one after the other: a process inherits pipes that are opened at the same time.
            let attacker = try start(attack, port, directory)
            let other = try start("pushes", port, directory)
            let during = try await gateway.get("/healthz").status
            let results = await lines(of: attacker)
            let answers = await lines(of: other)
            let after = try await gateway.get("/healthz").status
            #expect(results.last?.contains(#""closed": true"#) == true)
            #expect(answers == [#"{"statuses": {"200": 100}}"#])
            #expect(during == 200 && after == 200)
        }
    }

    // MARK: The start

    @Test(arguments: [
        (
            #""gateway": { "listen": { "apns": "0.0.0.0:0" } }, "sources": { "a": { "auth": { "bearer": ["env:WEBHOOK_SECRET"] } } },"#,
            "has no certificate for it"
        ),
        (#""gateway": { "listen": { "apns": "0.0.0.0:0" } },"#, "has no sources"),
        (#""gateway": { "listen": { "apns": "nonsense" } },"#, "/gateway/listen/apns: this must be an address"),
        (
            #""gateway": { "listen": { "apns": "127.0.0.1:0", "tls": { "certificate": "file:a", "key": "file:b" } } },"#,
            "/gateway/listen/tls/certificate: the file a cannot be read"
        ),
    ])
    func refusesToStart(sections: String, reason: String) async throws {
        try await withTemporaryDirectory { directory in
            try Data(Self.config(sections).utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(
                ["serve", "--listen", "127.0.0.1:0"], in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(result.status == 2)
            #expect(result.errors.contains(reason), "\(result.errors)")
        }
    }

    @Test func namesTheOptionOfAnAddressInUse() async throws {
        try await run { _, port, _ in
            try await withTemporaryDirectory { directory in
                let sections = #""gateway": { "listen": { "apns": "127.0.0.1:\#(port)" } },"#
                try Data(Self.config(sections).utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
                let result = try await binary.run(["serve", "--listen", "127.0.0.1:0"], in: directory)
                #expect(result.status == 2)
                #expect(result.errors.contains("Choose another address in gateway.listen.apns."))
            }
        }
    }

    // MARK: signalbox certs new

    @Test func keepsTheAuthorityAndReplacesACertificateOnRequestOnly() async throws {
        try await withTemporaryDirectory { directory in
            func contents(_ name: String) throws -> Data {
                try Data(contentsOf: URL(fileURLWithPath: directory + "/certs/" + name))
            }
            let made = try await binary.run(["certs", "new", "--host", "push.example.com"], in: directory)
            #expect(made.status == 0)
            #expect(made.output == "ca: certs/ca.crt\ncertificate: certs/server.crt\nkey: certs/server.key\n")
            let (ca, server) = (try contents("ca.crt"), try contents("server.crt"))
            let again = try await binary.run(["certs", "new"], in: directory)
            #expect(again.status == 2)
            #expect(again.errors.contains("Use --renew"))
            let renewed = try await binary.run(["certs", "new", "--renew", "--json"], in: directory)
            #expect(renewed.status == 0)
            #expect(
                renewed.output
                    == #"{"ca":"certs/ca.crt","certificate":"certs/server.crt","key":"certs/server.key"}"# + "\n")
            #expect(try contents("ca.crt") == ca)
            #expect(try contents("server.crt") != server)
            for name in ["ca.key", "server.key"] {
                let mode = try FileManager.default.attributesOfItem(atPath: directory + "/certs/" + name)[
                    .posixPermissions]
                #expect(mode as? Int == 0o600)
            }
        }
    }

    @Test func rejectsNamesThatAreNotHosts() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await binary.run(["certs", "new", "--host", "a,DNS:b"], in: directory)
            #expect(result.status != 0)
            #expect(result.errors.contains("Invalid --host a,DNS:b"))
        }
    }
}
