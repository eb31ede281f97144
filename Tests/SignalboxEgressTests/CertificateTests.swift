import Foundation
import SignalboxEgress
import Testing

struct CertificateTests {
    private let maker = CertificateMaker(authority: "Test")
    private let hosts = [(name: "localhost", isAddress: false), (name: "::1", isAddress: true)]

    @Test func issuesCertificatesOfItsAuthority() throws {
        let issued = maker.issue(for: hosts)
        let again = try #require(CertificateMaker(authority: maker.authority)).issue(for: hosts)
        #expect(X509Certificate.all(pem: issued.certificate).count == 1)
        #expect(issued.certificate != again.certificate)
        #expect(issued.key != again.key)
        #expect(issued.key.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    }

    @Test func tellsWhenACertificateExpires() throws {
        let before = Int(Date().timeIntervalSince1970)
        let certificate = try #require(X509Certificate.all(pem: maker.issue(for: hosts).certificate).first)
        let lifetime = CertificateMaker.days * 86_400
        let end = try #require(certificate.notAfter)
        #expect((before + lifetime...Int(Date().timeIntervalSince1970) + lifetime).contains(end))
    }

    @Test func aCertificateOfManyHostsIsWhole() {
        let names = (0..<400).map { (name: "\($0)." + String(repeating: "a", count: 40), isAddress: false) }
        let issued = maker.issue(for: names).certificate
        #expect(issued.utf8.count > 16 * 1024)
        #expect(X509Certificate.all(pem: issued).count == 1)
    }

    @Test func needsTheKeyOfItsAuthority() {
        let (authority, other) = (maker.authority, CertificateMaker(authority: "Other").authority)
        let wrong = [
            (authority.certificate, other.key), ("x", authority.key), (authority.certificate, "x"),
        ]
        let makers = wrong.compactMap { CertificateMaker(authority: NewCertificate(certificate: $0, key: $1)) }
        #expect(makers.isEmpty)
    }

    /// A certificate for servers is none for clients.
    @Test func trustsCertificatesForClientsOnly() throws {
        let authority = try #require(CertificateAuthority(pem: maker.authority.certificate))
        let server = try #require(X509Certificate.all(pem: maker.issue(for: hosts).certificate).first)
        #expect(!authority.hasIssued(server))
        #expect(server.subjectUID == nil)
    }

    @Test func readsEachCertificateOfAText() {
        let texts = [maker.authority.certificate, CertificateMaker(authority: "Other").authority.certificate]
        #expect(X509Certificate.all(pem: "note\n" + texts.joined(separator: "\n")).count == 2)
        #expect(X509Certificate.all(pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").isEmpty)
        let (authority, certificate) = (CertificateAuthority(pem: ""), X509Certificate(der: [0x30, 0]))
        #expect(authority == nil)
        #expect(certificate == nil)
    }

    @Test(arguments: [
        ("push.example.com", true), ("*.example.com", true), ("10.0.0.1", true), ("fd00::1", true), ("", false),
        ("a,DNS:b", false), ("1::2::3", false), ("1:2", false), ("push.example.com:443", false),
        ("a b", false), ("ä", false), (String(repeating: "a", count: 254), false), ("localhost", true),
        ("10.0.0.256", false), ("127.1", false), ("a..b", false), ("a.", false), ("*", false), ("a.*.b", false),
        ("-a.b", false), (String(repeating: "a", count: 64) + ".b", false), ("3com.com", true), ("a.3b", true),
    ])
    func acceptsNamesOfHosts(name: String, isHost: Bool) {
        #expect(CertificateMaker.isHost(name) == isHost)
    }
}
