import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// TLS of the listener for providers, with certificates as `signalbox certs new` makes them.
@Suite(.timeLimit(.minutes(2)))
struct ProviderTLSTests {
    private static let hosts = [(name: "localhost", isAddress: false), (name: "127.0.0.1", isAddress: true)]

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
        clientCA: Bool = false,
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
            try await TestListener.run(tls: tls) { listener in
                try await body(listener, directory + "/ca.crt") { tls.replace(by: next) }
            }
        }
    }

    /// 24, 32: the same frames with ALPN; HTTP/2 without ALPN and without SNI.
    @Test func speaksHTTP2WithAndWithoutALPN() async throws {
        try await Self.run { listener, authority, _ in
            let frames = try await listener.play("log", authority: authority).texts("frame")
            #expect(frames.suffix(3).first == "HEADERS 1 5 :status=200 apns-id=AbC-1")
            let answers = try await listener.play("without_alpn", authority: authority).texts("answers")
            #expect(answers == Array(repeating: #"{"1":[200,""]}"#, count: 3))
        }
    }

    /// 7, 32
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

    @Test func aReloadReplacesTheCertificate() async throws {
        try await Self.run { listener, authority, replace in
            let first = try await listener.play("certificate", authority: authority).texts("sha256")
            let again = try await listener.play("certificate", authority: authority).texts("sha256")
            try replace()
            let next = try await listener.play("certificate", authority: authority).texts("sha256")
            #expect(first == again && first != next)
        }
    }

    /// 9
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

    /// 26, 31 over TLS: the last frames reach the client.
    @Test func endsConnectionsGracefullyOverTLS() async throws {
        try await Self.run { listener, authority, _ in
            let frames = try await listener.play("goaway", authority: authority).texts("frame")
            #expect(frames.contains("GOAWAY 0 0 last=1 code=0 why"))
            #expect(frames.last == #"DATA 1 1 {"reason":"Bad"}"#)
        }
    }

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
