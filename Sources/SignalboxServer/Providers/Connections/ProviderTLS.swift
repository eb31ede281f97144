import NIOCore
import NIOSSL
package import SignalboxConfig
import SignalboxEgress
import Synchronization

/// The certificate of the provider endpoints, and the authorities whose client certificates identify senders. A reload
/// makes a new one for new connections.
package struct ProviderTLS: Sendable {
    private let context: NIOSSLContext
    /// Nil when no authority identifies clients.
    private let clientCA: CertificateAuthority?
    /// Their text in PEM; nil without ``clientCA``.
    let clientAuthorities: String?
    private let chains = ClientChains()
    /// The names of ``ProviderHost/all`` that the certificate is not for. Senders that use the proxy check it.
    package let uncoveredHosts: [String]
    /// When the certificate expires, in seconds since 1970; nil if that cannot be read. Others of its chain do not
    /// count.
    let notAfter: Int?

    /// Throws for texts that are not PEM, and for a key of another certificate. The error names the option, not the
    /// contents.
    package init(_ files: SecretResolver.ListenerTLS, _ resolver: SecretResolver) throws(ConfigRefusal) {
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMBytes(Array(files.certificate.text.utf8)) } catch {
            throw resolver.refusal(of: files.certificate, "\(files.certificate.reference) has no certificate in PEM")
        }
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(bytes: Array(files.key.text.utf8), format: .pem) } catch {
            throw resolver.refusal(of: files.key, "\(files.key.reference) has no key in PEM, or one with a passphrase")
        }
        do { context = try NIOSSLContext(configuration: Self.configuration(chain, key)) } catch {
            throw resolver.refusal(
                of: files.key, "\(files.key.reference) is not the key of \(files.certificate.reference)")
        }
        let certificate = X509Certificate.all(pem: files.certificate.text).first
        notAfter = certificate?.notAfter
        uncoveredHosts = ProviderHost.names.filter { certificate?.isFor(host: $0) != true }
        clientAuthorities = files.clientCA?.text
        clientCA = try files.clientCA.map { secret throws(ConfigRefusal) in
            if let authority = CertificateAuthority(pem: secret.text) { return authority }
            throw resolver.refusal(of: secret, "\(secret.reference) has no certificate in PEM")
        }
    }

    /// TLS 1.2 or later. ALPN prefers HTTP/2. A client certificate is requested and not required.
    private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        // Requests a client certificate and does not require one. Endpoints decide what a certificate permits.
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates([])
        return configuration
    }

    /// The handler of a new connection. It accepts client certificates of every issuer, because the config may name
    /// the digest of a certificate. The handshake proves that the client has the key.
    func handler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: context) { [clientCA, chains] chain, result in
            if let clientCA { chains.remember(chain, issuedBy: clientCA) }
            result.succeed(.certificateVerified)
        }
    }

    /// The certificate that the client of a connection proved to own; nil without one. On the event loop of the
    /// connection, after its handshake. ``ProviderConnection/ClientCertificate/isIssuedByClientCA`` is false without a
    /// configured authority.
    func clientCertificate(of pipeline: ChannelPipeline) -> ProviderConnection.ClientCertificate? {
        guard let der = try? pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes() else { return nil }
        let (certificate, digest) = (X509Certificate(der: der), sha256(der))
        let isIssued = certificate.map { clientCA?.hasIssued($0, through: chains.intermediates(of: digest)) ?? false }
        return ProviderConnection.ClientCertificate(
            sha256: digest, subjectUID: certificate?.subjectUID, isIssuedByClientCA: isIssued ?? false)
    }
}

/// The intermediate certificates that clients sent with their own. A client that resumes a TLS session sends none, so
/// they are kept, if they lead to a trusted authority. An entry that was dropped comes back with the next handshake.
private final class ClientChains: Sendable {
    // A class because all connections share it.
    private let known = Mutex(BoundedTable<[UInt8], [X509Certificate]>(capacity: 1024))
    /// The most certificates of a chain that are read.
    private static let longest = 8

    /// Has no effect for a chain that does not lead to `authority`, so other clients cannot displace the stored ones.
    func remember(_ chain: [NIOSSLCertificate], issuedBy authority: CertificateAuthority) {
        let chain = chain.prefix(Self.longest).compactMap { try? $0.toDERBytes() }
        guard chain.count > 1, let certificate = X509Certificate(der: chain[0]) else { return }
        let intermediates = chain.dropFirst().compactMap { X509Certificate(der: $0) }
        guard authority.hasIssued(certificate, through: intermediates) else { return }
        known.withLock { $0[sha256(chain[0])] = intermediates }
    }

    /// The intermediates of the certificate with this digest; empty if none are known.
    func intermediates(of digest: [UInt8]) -> [X509Certificate] { known.withLock { $0[digest] } ?? [] }
}

// Shows no key, however it is printed.
extension ProviderTLS: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "TLS" }
    package var debugDescription: String { description }
}
