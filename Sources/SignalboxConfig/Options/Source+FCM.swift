import SignalboxNotification

extension GatewayConfig {
    /// The identities of a source at the endpoints that are compatible with FCM.
    package struct FCM: Sendable, Equatable {
        /// Firebase projects of the source; without any, it may use the projects that no other source has.
        package var projects: [String] = []
        /// Service accounts that may request access tokens.
        package var serviceAccounts: [ServiceAccount] = []
        /// Server keys of the legacy protocol (`authorization: key=…`).
        package var keys: [SecretReference] = []

        /// False if it only restricts the projects of a source that has other credentials.
        var identifies: Bool { !serviceAccounts.isEmpty || !keys.isEmpty }
    }

    /// A key of a Google service account, as its JSON file describes it.
    package struct ServiceAccount: Sendable, Equatable {
        /// `client_email`, the issuer of assertions.
        package var email: String
        /// `private_key_id`, which assertions name as `kid`.
        package var keyID: String
        /// The public key in PEM, or a certificate with it.
        package var publicKey: SecretReference
    }
}

// MARK: Options

extension GatewayConfig.FCM {
    /// Used with or without `auth`: both identify the same source.
    static let options = Section(GatewayConfig.FCM()) {
        Option(
            "projects", \.projects,
            projectName.set(of: "project ids") { "the project \"\($0)\" is listed twice; remove one" },
            "Firebase projects of the source. Others receive `SENDER_ID_MISMATCH`. Default: those that no other source lists."
        )
        Option(
            "serviceAccounts", \.serviceAccounts,
            OptionType.section(GatewayConfig.ServiceAccount.options).list(
                of: "service accounts", 1...100, orElse: "this must be an array of 1 to 100 service accounts"),
            "Keys of service accounts. Their assertions receive access tokens at `POST /token`.")
        Option(
            "keys", \.keys,
            OptionType<SecretReference>.reference.list(
                of: "references", 1...100, orElse: "this must be an array of 1 to 100 references to server keys"),
            "Server keys of the legacy protocol, `authorization: key=…`.")
    }

    /// A project id or a project number. Accepts more characters than Google does, because emulators use other ids.
    private static let projectName = OptionType<String>.string(
        "project id", pattern: "^[A-Za-z0-9._:-]{1,128}$", write: { .string($0) }
    ) {
        "\"\($0)\" is not a project id, such as \"my-app-1a2b3\""
    } _: { name in
        guard (1...128).contains(name.utf8.count) else { return nil }
        return name.utf8.allSatisfy { $0.isLetterOrDigit || "._:-".utf8.contains($0) } ? name : nil
    }
}

extension GatewayConfig.ServiceAccount {
    private static let missing =
        "a service account needs \"email\", \"keyId\" and \"publicKey\", the reference to a key in PEM"

    /// One key of an account. An account with several keys has several entries.
    fileprivate static let options = Section(
        GatewayConfig.ServiceAccount(email: "", keyID: "", publicKey: .environment(""))
    ) {
        Option("email", \.email, .line, required: missing, "The `client_email` of the account's JSON file.")
        Option("keyId", \.keyID, .line, required: missing, "The `private_key_id` of the account's JSON file.")
        Option(
            "publicKey", \.publicKey, .reference, required: missing,
            "The public key, or a certificate with it, in PEM: `openssl pkey -in key.pem -pubout`.")
    }
}
