import SignalboxJSON
import SignalboxNotification

extension GatewayConfig {
    /// The credentials and the topics of a source that sends pushes to the APNs endpoint.
    package struct APNsSource: Sendable, Equatable {
        /// Keys of provider tokens.
        package var keys: [ProviderKey] = []
        /// TLS client certificates.
        package var certificates: [Certificate] = []
        /// Secrets in the path of requests.
        package var secrets: [SecretReference] = []
        /// Bundle identifiers; empty to permit every topic that no other source has.
        package var topics: [String] = []
        /// Whether answers have what only Apple's development environment sends.
        package var isDevelopment = false
        /// Rules of Apple's that clients often break without noticing.
        package var strict = Strict()

        /// A public key of provider tokens.
        package struct ProviderKey: Sendable, Equatable {
            /// `iss` of the tokens.
            package var team = ""
            /// `kid` of the tokens.
            package var key = ""
            /// The PEM of the public key; nil in an invalid config.
            package var publicKey: SecretReference?
        }

        /// A client certificate. Exactly one of the two properties is set.
        package struct Certificate: Sendable, Equatable {
            /// 32 bytes: the digest of the certificate.
            package var sha256: [UInt8]?
            /// The `UID` of the subject of a certificate that the client CA of the listener issued.
            package var uid: String?
        }

        /// Rules that are off by default.
        package struct Strict: Sendable, Equatable {
            /// All tokens of a connection have the same key.
            package var connectionKey = false
            /// A team has at most two new tokens in 20 minutes.
            package var tokenUpdates = false

            /// Every rule off.
            package init() {}
        }

        /// Without a credential: invalid.
        init() {}
    }
}

extension GatewayConfig.APNsSource {
    /// The error for a source without any credential.
    private static let missing =
        "an APNs source needs a way to prove its identity: \"keys\", \"certificates\" or \"secrets\""
    private static let missingKey = "a key needs a \"team\", a \"key\" (its identifier) and a \"publicKey\""
    private static let oneProof = "a certificate must have either a \"sha256\" or a \"uid\""

    /// Requires at least one credential, so that a source never accepts every client.
    static let options = Section(GatewayConfig.APNsSource()) {
        Option(
            "keys", \.keys, OptionType.section(keyOptions).list(of: "keys"),
            "Keys of provider tokens (ES256), by team and key identifier.")
        Option(
            "certificates", \.certificates, OptionType.section(certificateOptions).list(of: "certificates"),
            "TLS client certificates.")
        Option(
            "secrets", \.secrets, OptionType<SecretReference>.reference.list(of: "references"),
            "Secrets in the path, for clients that send no other credential: `/s/SECRET/3/device/TOKEN`.")
        Option(
            "topics", \.topics, topic.list(of: "bundle identifiers"),
            "Topics that the source may send to. A bundle identifier includes its topics with a suffix such as `.voip`. Default: every topic that no other source has."
        )
        Option(
            "development", \.isDevelopment, .flag,
            "Answer as Apple's development environment: with `apns-unique-id`, the id of the event.")
        Option("strict", \.strict, .section(strictOptions), "Rules of Apple's that are off by default.")
    } check: { source, value, reader in
        let proofs = ["keys", "certificates", "secrets"]
        if proofs.allSatisfy({ value.member($0)?.elements.contains { _ in true } != true }),
            reader.mistaken.isDisjoint(with: proofs)
        {
            reader.note(value, missing)
        }
    }

    /// All three are required; the key itself is read when the config becomes active.
    private static let keyOptions = Section(ProviderKey()) {
        Option("team", \.team, identifier, required: missingKey, "The team, `iss` of the tokens.")
        Option("key", \.key, identifier, required: missingKey, "The identifier of the key, `kid` of the tokens.")
        Option(
            "publicKey", \.publicKey, .reference, required: missingKey,
            "The public key in PEM: the output of `openssl ec -in AuthKey.p8 -pubout`.")
    }

    /// A fingerprint needs no client CA, a `uid` does.
    private static let certificateOptions = Section(Certificate()) {
        Option("sha256", \.sha256, fingerprint, "The SHA-256 fingerprint of the certificate.")
        Option(
            "uid", \.uid, topic, "The `UID` of the subject. For certificates that the listener's `clientCA` issued.")
    } check: { _, value, reader in
        if reader.lacks("sha256", in: value) == reader.lacks("uid", in: value) { reader.note(value, oneProof) }
    }

    /// Senders that pass here without them may still fail at Apple.
    private static let strictOptions = Section(Strict()) {
        Option(
            "connectionKey", \.connectionKey, .flag,
            "Reject tokens of another key on the same connection with `UnrelatedKeyIdInToken`.")
        Option(
            "tokenUpdates", \.tokenUpdates, .flag,
            "Reject the third new token of a team within 20 minutes with `TooManyProviderTokenUpdates`."
                + " A reload of the config begins a new count.")
    }

    /// Apple's identifiers have ten letters and digits.
    private static let identifier = OptionType<String>.string(
        "identifier", pattern: "^[A-Za-z0-9._-]{1,64}$", write: { _ in nil },
        expected: { "\"\($0)\" is not an identifier; Apple's have ten letters and digits, such as \"ABCDE12345\"" }
    ) { NameRule.allows($0) ? $0 : nil }

    /// Letters, digits, `-`, `_` and `.`.
    private static let topic = OptionType<String>.string(
        "bundle identifier", pattern: "^[A-Za-z0-9._-]{1,255}$", write: { .string($0) },
        expected: { "\"\($0)\" is not a bundle identifier; write it like \"com.example.app\"" }
    ) { TopicRule.allows($0) ? $0 : nil }

    /// 64 hexadecimal digits, with or without colons, as OpenSSL prints them.
    private static let fingerprint = OptionType<[UInt8]>.string(
        "fingerprint", pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
        expected: { _ in
            "this is not a SHA-256 fingerprint; write the 64 digits of `openssl x509 -fingerprint -sha256 -noout`"
        }
    ) { text in
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for position in stride(from: 0, to: 64, by: 2) {
            let pair = String(decoding: digits[position..<position + 2], as: UTF8.self)
            guard !pair.hasPrefix("+"), !pair.hasPrefix("-"), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
