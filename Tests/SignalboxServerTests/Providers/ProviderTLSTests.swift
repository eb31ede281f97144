import Foundation
import NIOCore
import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// TLS of the listener for providers, with certificates as `signalbox certs new` makes them.
@Suite(.timeLimit(.minutes(15)))
struct ProviderTLSTests {
    private static let hosts = [
        (name: "localhost", isAddress: false), (name: "127.0.0.1", isAddress: true),
        (name: "api.push.apple.com", isAddress: false), (name: "*.googleapis.com", isAddress: false),
    ]

    private static func tls(
        _ certificate: NewCertificate, clientCA: String? = nil
    ) throws(ConfigRefusal) -> ProviderTLS? {
        let resolver = SecretResolver(
            path: "routes.json",
            environment: ["CERTIFICATE": certificate.certificate, "KEY": certificate.key, "CA": clientCA ?? ""])
        let listen = GatewayConfig.Listen(
            apns: "127.0.0.1:0",
            tls: .init(
                certificate: .environment("CERTIFICATE"), key: .environment("KEY"),
                clientCA: clientCA.map { _ in .environment("CA") }))
        let files = try resolver.listenerTLS(listen)
        return try files.map { files throws(ConfigRefusal) in try ProviderTLS(files, resolver) }
    }

    /// Runs `body` with a listener whose authority is in a file. `replace` is a reload with another certificate.
    private static func run(
        clientCA: Bool = false, isProxy: Bool = false, limits: ProviderLimits = ProviderLimits(),
        handshakes: FailedHandshakes? = nil,
        _ body:
            @Sendable @escaping (
                TestListener, _ authority: String, _ replace: @Sendable () throws -> Void
            ) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let maker = CertificateMaker(authority: "Test")
            let authority = maker.authority
            try Data(authority.certificate.utf8).write(to: URL(fileURLWithPath: directory + "/ca.crt"))
            try Data(authority.key.utf8).write(to: URL(fileURLWithPath: directory + "/ca.key"))
            let ca = clientCA ? authority.certificate : nil
            let tls = Replaceable(try tls(maker.issue(for: hosts), clientCA: ca))
            let next = try Self.tls(maker.issue(for: hosts), clientCA: ca)
            try await TestListener.run(
                limits: limits, tls: tls, isProxy: isProxy, handshakes: handshakes
            ) { listener in
                try await body(listener, directory + "/ca.crt") { tls.replace(by: next) }
            }
        }
    }

    /// The same frames with ALPN; HTTP/2 without ALPN and without SNI.
    @Test func speaksHTTP2WithAndWithoutALPN() async throws {
        try await Self.run { listener, authority, _ in
            let frames = try await listener.play("log", authority: authority).texts("frame")
            #expect(frames.suffix(3).first == "HEADERS 1 5 :status=200 apns-id=AbC-1")
            let answers = try await listener.play("without_alpn", authority: authority).texts("answers")
            #expect(answers == Array(repeating: #"{"1":[200,""]}"#, count: 3))
        }
    }

    /// A client that waits for the end of TCP would notice the end of TLS late.
    @Test func cutsAConnectionWithoutTheEndOfTLS() async throws {
        try await Self.run { listener, authority, _ in
            let results = try await listener.play("torn", authority: authority)
            #expect(results.map { $0["ended"] as? Bool } == [false, false])
        }
    }

    @Test func speaksHTTP1WithAndWithoutALPN() async throws {
        try await Self.run { listener, authority, _ in
            let answers = try await listener.play("http1", authority: authority)
            #expect(answers.count == 4)
        }
    }

    @Test func refusesOldVersionsOfTLS() async throws {
        try await Self.run { listener, authority, _ in
            let results = try await listener.play("old_tls", authority: authority)
            #expect(results.first?["refused"] as? Bool == true)
        }
    }

    /// Every failure has a minute of its own; the check of the port, which comes first, has no line.
    @Test func logsWhyHandshakesFail() async throws {
        let (log, clock) = (LineLog(), MovedClock())
        let handshakes = FailedHandshakes(logger: log.logger) {
            clock.advance(by: 61)
            return clock.now
        }
        try await Self.run(handshakes: handshakes) { listener, authority, _ in
            _ = try await listener.play("bad_handshakes", authority: authority)
        }
        let reasons = log.lines.map { line in
            #expect(line.hasPrefix("TLS handshake failed. address=127.0.0.1 failures=1 reason="))
            return line.split(separator: "\"").last
        }
        #expect(
            reasons == [
                "no cipher in common", "the client does not support the key of the certificate of gateway.listen.tls",
                "the client ended the handshake; most often it does not trust the CA of gateway.listen.tls",
                "the client speaks HTTP without TLS", "the client does not speak TLS",
                "the client speaks to a proxy; see gateway.listen.proxy",
            ])
    }

    @Test func aReloadReplacesTheCertificate() async throws {
        try await Self.run { listener, authority, replace in
            let first = try await listener.play("certificate", authority: authority).texts("sha256")
            let again = try await listener.play("certificate", authority: authority).texts("sha256")
            try replace()
            let next = try await listener.play("certificate", authority: authority).texts("sha256")
            #expect(first == again && first != next)
        }
    }

    @Test(arguments: [true, false])
    func readsClientCertificates(hasAuthority: Bool) async throws {
        try await Self.run(clientCA: hasAuthority) { listener, authority, _ in
            let answers = try await listener.play("client_certificates", authority: authority).texts("answers")
            #expect(
                answers == [
                    #"{"1":[200,"com.example.app \#(hasAuthority)"]}"#, #"{"1":[200,"com.example.app false"]}"#,
                    #"{"1":[200,"- false"]}"#,
                ])
        }
    }

    /// The gateway knows the root only. The client sends the intermediate certificate, or none, or one that is not an
    /// authority; the second connection of the first client resumes its session.
    @Test func verifiesTheChainThatAClientSends() async throws {
        try await withTemporaryDirectory { directory in
            let process = try RunningBinary(
                TestLibraries.python, [TestLibraries.root.path + "/Tests/Providers/chains.py", directory])
            process.send(Data())
            #expect(await process.end() == 0)
            let root = try String(contentsOfFile: directory + "/root.pem", encoding: .utf8)
            let maker = CertificateMaker(authority: "Test")
            try Data(maker.authority.certificate.utf8).write(to: URL(fileURLWithPath: directory + "/ca.crt"))
            let tls = Replaceable(try Self.tls(maker.issue(for: Self.hosts), clientCA: root))
            let answers = try await TestListener.run(tls: tls) { listener in
                try await listener.play("client_chains", authority: directory + "/ca.crt").texts("answers")
            }
            #expect(answers == ["true", "true", "false", "false"].map { #"{"1":[200,"com.example.app \#($0)"]}"# })
        }
    }

    /// The last frames reach the client over TLS too.
    @Test func endsConnectionsGracefullyOverTLS() async throws {
        try await Self.run { listener, authority, _ in
            let frames = try await listener.play("goaway", authority: authority).texts("frame")
            #expect(frames.suffix(2) == [#"DATA 1 1 {"reason":"Bad"}"#, "GOAWAY 0 0 last=1 code=0 why"])
        }
    }

    // MARK: The proxy

    @Test func tellsWhichHostsACertificateIsNotFor() throws {
        let tls = try #require(try Self.tls(CertificateMaker(authority: "Test").issue(for: Self.hosts)))
        #expect(
            tls.uncoveredHosts == [
                "api.sandbox.push.apple.com", "api.development.push.apple.com", "api-manage-broadcast.push.apple.com",
                "api-manage-broadcast.sandbox.push.apple.com", "accounts.google.com", "exp.host",
            ])
    }

    @Test func servesAHostInItsTunnel() async throws {
        try await Self.run(isProxy: true) { listener, authority, _ in
            let results = try await listener.play("tunnel", authority: authority)
            #expect(results.texts("head") == Array(repeating: "HTTP/1.1 200 Connection established", count: 3))
            let id = #"[404,"{\"reason\":\"BadPath\"}"]"#
            #expect(results.texts("answers") == Array(repeating: #"{"1":[200,""],"3":\#(id)}"#, count: 3))
            #expect(results.texts("google").first?.contains("Method not found.") == true)
        }
    }

    @Test func refusesWithAText() async throws {
        try await Self.run(isProxy: true) { listener, authority, _ in
            let answers = try await listener.play("refusals", authority: authority).texts("answer")
            #expect(
                answers.map { $0.prefix { $0 != "\r\n" }.dropFirst(9).prefix(3) } == [
                    "403", "405", "503", "400", "431",
                ])
            #expect(answers.allSatisfy { $0.contains("connection: close") && $0.hasSuffix("\n") })
            #expect(answers[2].contains("is not for exp.host"))
        }
    }

    /// A client that sends half a head, one that opens a tunnel without TLS in it, and a silent one.
    @Test func closesATunnelThatIsNotUsed() async throws {
        var limits = ProviderLimits()
        limits.handshake = .milliseconds(100)
        try await Self.run(isProxy: true, limits: limits) { listener, authority, _ in
            let results = try await listener.play("unused_tunnels", authority: authority)
            #expect(results.texts("closed") == ["true", "true", "true"])
        }
    }

    @Test func stopsAWaitingTunnel() async throws {
        try await Self.run(isProxy: true) { listener, authority, _ in
            let results = try await listener.play("waiting_tunnel", authority: authority) { line in
                if line["ready"] != nil { await listener.stop() }
            }
            #expect(results.texts("closed") == ["true"])
        }
    }

    @Test func aReloadReplacesTheCertificateOfTunnels() async throws {
        try await Self.run(isProxy: true) { listener, authority, replace in
            let first = try await listener.play("tunnel", authority: authority).texts("sha256")
            try replace()
            let next = try await listener.play("tunnel", authority: authority).texts("sha256")
            #expect(Set(first).count == 1 && Set(next).count == 1 && first != next)
        }
    }

    // MARK: Identities

    /// Two subjects would be two senders.
    @Test(arguments: [("/UID=com.example.app/CN=x", "com.example.app"), ("/UID=a/UID=b/CN=x", nil), ("/CN=x", nil)])
    func readsTheOnlySubject(name: String, uid: String?) async throws {
        try await withTemporaryDirectory { directory in
            let process = try RunningBinary(
                URL(fileURLWithPath: "/usr/bin/openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", name,
                    "-keyout", directory + "/key", "-outform", "DER", "-out", directory + "/crt",
                ])
            process.send(Data())
            #expect(await process.end() == 0)
            let der = try Data(contentsOf: URL(fileURLWithPath: directory + "/crt"))
            #expect(try #require(X509Certificate(der: Array(der))).subjectUID == uid)
        }
    }

    // MARK: Bad files

    @Test func refusesAKeyOfAnotherCertificate() throws {
        let maker = CertificateMaker(authority: "Test")
        let (one, other) = (maker.issue(for: Self.hosts), maker.issue(for: Self.hosts))
        let error = #expect(throws: ConfigRefusal.self) {
            try Self.tls(NewCertificate(certificate: one.certificate, key: other.key))
        }
        #expect(error.map { "\($0)" }?.contains("env:KEY is not the key of env:CERTIFICATE") == true)
    }

    @Test func refusesTextsThatAreNotPEM() {
        let good = CertificateMaker(authority: "Test").authority
        for bad in [
            NewCertificate(certificate: "x", key: good.key), NewCertificate(certificate: good.certificate, key: "x"),
        ] {
            #expect(throws: ConfigRefusal.self) { try Self.tls(bad) }
        }
        #expect(throws: ConfigRefusal.self) { try Self.tls(good, clientCA: "x") }
    }
}
