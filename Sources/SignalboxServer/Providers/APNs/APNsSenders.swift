package import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxStore

/// The sources of a config that send to the APNs endpoint, with the proofs that identify them. Holds secrets. An
/// immutable value: a new config brings a new one.
package struct APNsSenders: Sendable {
    /// A public key of provider tokens.
    struct Key: Sendable {
        /// `iss` of the tokens that it signs.
        let team: String
        /// `kid` of these tokens, unique within the team.
        let id: String
        /// The only source that may have the key.
        let source: SourceName
        let publicKey: ES256PublicKey
    }

    /// True without sources: every client on this machine may send.
    let isOpen: Bool
    /// In the order of the names of their sources.
    let keys: [Key]
    /// By SHA-256 fingerprint.
    private let certificates: [(value: SourceName, token: [UInt8])]
    /// By subject UID, for certificates of the client CA.
    private let subjects: [String: SourceName]
    /// Secrets in paths.
    private let secrets: [(value: SourceName, token: [UInt8])]
    /// The options of the sources that have any for APNs.
    private let sources: [SourceName: GatewayConfig.APNsSource]
    /// The sources that list a topic, by topic. A topic without an entry is free for sources that list none.
    private let owners: [String: Set<SourceName>]

    /// Throws for a secret that cannot be read, for a key that is not a P-256 public key, and for a proof that two
    /// sources have.
    package init(_ config: GatewayConfig, by resolver: SecretResolver) throws(ConfigRefusal) {
        isOpen = config.sources.isEmpty
        sources = config.sources.compactMapValues(\.apns)
        let resolved = try resolver.apnsSecrets(config)
        var proofs = Proofs()
        for (name, source) in sources.sorted(by: { $0.key.name < $1.key.name }) {
            guard let secrets = resolved[name] else { continue }
            try proofs.add(source, of: name, secrets, by: resolver)
        }
        keys = proofs.keys
        certificates = proofs.certificates
        subjects = proofs.subjects
        secrets = proofs.secrets
        var owners: [String: Set<SourceName>] = [:]
        for (name, source) in sources {
            for topic in source.topics { owners[topic, default: []].insert(name) }
        }
        self.owners = owners
    }

    /// The proofs of the sources that were read so far.
    private struct Proofs {
        var keys: [Key] = []
        var certificates: [(value: SourceName, token: [UInt8])] = []
        var subjects: [String: SourceName] = [:]
        var secrets: [(value: SourceName, token: [UInt8])] = []

        /// Adds the proofs of one source. Throws for a proof that another source has, a key that is not the PEM of a
        /// P-256 public key, and a secret with characters that a path must escape.
        mutating func add(
            _ source: GatewayConfig.APNsSource, of name: SourceName, _ resolved: SecretResolver.APNsSecrets,
            by resolver: SecretResolver
        ) throws(ConfigRefusal) {
            for (key, pem) in zip(source.keys, resolved.publicKeys) {
                if let other = keys.first(where: { $0.team == key.team && $0.id == key.key }) {
                    throw resolver.refusal(of: "the key \(key.key)", shared: name, with: other.source, option: "keys")
                }
                guard let publicKey = ES256PublicKey(pem: Array(pem.text.utf8)) else {
                    throw resolver.refusal(
                        of: pem,
                        "\(pem.reference) is not the PEM of a P-256 public key; make it with "
                            + "`openssl ec -in AuthKey.p8 -pubout`")
                }
                keys.append(Key(team: key.team, id: key.key, source: name, publicKey: publicKey))
            }
            for certificate in source.certificates {
                let known =
                    certificate.sha256.flatMap { digest in certificates.first { $0.token == digest }?.value }
                    ?? certificate.uid.flatMap { subjects[$0] }
                if let other = known {
                    throw resolver.refusal(of: "a certificate", shared: name, with: other, option: "certificates")
                }
                if let digest = certificate.sha256 { certificates.append((name, digest)) }
                if let uid = certificate.uid { subjects[uid] = name }
            }
            for secret in resolved.pathSecrets {
                guard secret.text.utf8.allSatisfy({ $0.isLetterOrDigit || "-._~".utf8.contains($0) }) else {
                    throw resolver.refusal(
                        of: secret,
                        "\(secret.reference) is part of a path, so it must consist of letters, digits, \"-\", \"_\", \".\" "
                            + "and \"~\"; use the output of `openssl rand -hex 32`")
                }
                let bytes = Array(secret.text.utf8)
                if let other = secrets.first(where: { $0.token == bytes }) {
                    throw resolver.refusal(of: "a secret", shared: name, with: other.value, option: "secrets")
                }
                secrets.append((name, bytes))
            }
        }
    }
}

// MARK: Proofs

extension APNsSenders {
    /// The source of a secret in a path. Compares all secrets, in constant time. Nil for an unknown one.
    func source(ofSecret secret: String) -> SourceName? {
        let presented = Array(secret.utf8)
        return secrets.filter { equalInConstantTime($0.token, presented) }.first?.value
    }

    /// The source of a client certificate: by its fingerprint, otherwise by its subject. The subject counts only if the
    /// client CA issued the certificate, because anyone can write a subject. Nil if no source lists it.
    func source(of certificate: ProviderConnection.ClientCertificate) -> SourceName? {
        if let known = certificates.filter({ equalInConstantTime($0.token, certificate.sha256) }).first {
            return known.value
        }
        guard certificate.isIssuedByClientCA, let uid = certificate.subjectUID else { return nil }
        return subjects[uid]
    }

    /// The source's rules that are off by default. All are off for a source without options for APNs.
    func strict(_ source: SourceName) -> GatewayConfig.APNsSource.Strict { sources[source]?.strict ?? .init() }

    /// True if answers have the fields that only Apple's development environment sends. True for every request without
    /// sources.
    func isDevelopment(_ source: SourceName) -> Bool { isOpen || sources[source]?.isDevelopment == true }

    // MARK: Topics

    /// The suffixes of topics that belong to a bundle identifier.
    /// Source: developer.apple.com, "Sending notification requests to APNs"; PushKit; ActivityKit
    private static let suffixes = [
        ".voip", ".voip-ptt", ".complication", ".pushkit.fileprovider", ".location-query", ".push-type.liveactivity",
        ".push-type.widgets", ".push-type.controls",
    ]

    /// Whether a source may send to a topic: one of its own topics; without any, every topic that no other source has.
    func allows(_ topic: String, for source: SourceName) -> Bool {
        guard !owners.isEmpty else { return true }
        let bundle = Self.suffixes.first { topic.hasSuffix($0) }.map { String(topic.dropLast($0.count)) }
        let holders = [topic, bundle].compactMap { $0 }.compactMap { owners[$0] }
        if holders.contains(where: { $0.contains(source) }) { return true }
        return holders.isEmpty && sources[source]?.topics.isEmpty != false
    }
}

extension APNsSenders {
    /// Whether a source may use a channel: one of its own, one without a source, and those of the apps that it lists.
    func shares(_ channel: BroadcastChannel, with source: SourceName) -> Bool {
        guard !isOpen, let creator = channel.source else { return true }
        return creator == source || owners[channel.app]?.contains(source) == true
    }
}

// Shows no secret, however it is printed.
extension APNsSenders: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { isOpen ? "open" : "\(sources.count) sources" }
    package var debugDescription: String { description }
}
